import sys

from cqbench.cli import main

sys.exit(main())
