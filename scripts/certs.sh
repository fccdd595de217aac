#!/usr/bin/env bash
# Makes a test CA and certificates that it signs, for TLS and mutual TLS between grpc_ping_server and grpc_ping_client.
# Keys use the curve P-256 and are valid for a week. The server's certificate is for localhost, 127.0.0.1, ::1 and this
# machine's name. For tests and measurements only: the CA's key is in the same folder.
#
# Usage: scripts/certs.sh DIR [--name NAME]... [--days N] [--expired]
#   DIR             new or empty folder for ca.pem, server.pem, client.pem and their keys (ca.key, server.key, client.key)
#   --name NAME     another name of the server: a DNS name or an address; repeatable
#   --days N        number of days that certificates are valid, from an hour ago (1 to 365; default 7)
#   --expired       server and client get certificates that expired an hour ago; the CA's is valid
#
#   grpc_ping_server --tls --tls-cert DIR/server.pem --tls-key DIR/server.key                     TLS
#   grpc_ping_client --tls --tls-ca DIR/ca.pem
#   grpc_ping_server ... --tls-ca DIR/ca.pem                                                      mutual TLS
#   grpc_ping_client ... --tls-cert DIR/client.pem --tls-key DIR/client.key
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# quietly COMMAND...: shows the output of openssl only if it fails.
quietly() {
  local said
  said=$("$@" 2>&1) || die "openssl: $(tail -n 1 <<<"$said")"
}

# entry NAME: prints the name as a certificate's subjectAltName has it.
entry() {
  if [[ $1 =~ ^[0-9.]+$ || $1 == *:* ]]; then echo "IP:$1"; else echo "DNS:$1"; fi
}

# at OFFSET: a time in openssl's format. It has minutes: the CA's certificate must not end before those that it signed.
at() { date -u -d "$1" +%Y%m%d%H%M%SZ; }

# configure: writes the settings of the CA and of each kind of certificate.
configure() {
  cat >"$work/openssl.cnf" <<END
[req]
distinguished_name = nobody
prompt = no
[nobody]
CN = cqbench
[ca]
default_ca = test
[test]
database = $work/index
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = anything
unique_subject = no
copy_extensions = none
[anything]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[server]
extendedKeyUsage = serverAuth
subjectAltName = $alternatives
authorityKeyIdentifier = keyid
[client]
extendedKeyUsage = clientAuth
subjectAltName = DNS:client
authorityKeyIdentifier = keyid
END
  : >"$work/index"
  echo 1000 >"$work/serial"
}

# make NAME SECTION FROM UNTIL SIGNER...: makes NAME.key and NAME.pem.
make() {
  local name=$1 section=$2 from=$3 until=$4
  quietly openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/$name.key" \
    -config "$work/openssl.cnf" -subj "/CN=cqbench test $name" -out "$work/$name.csr"
  quietly openssl ca -batch -notext -config "$work/openssl.cnf" -extensions "$section" -startdate "$from" \
    -enddate "$until" -in "$work/$name.csr" -out "$work/$name.pem" "${@:5}"
}

names=(localhost 127.0.0.1 ::1 "$(uname -n)")
days=7 expired=0 folder=
while (($#)); do
  case $1 in
    -h | --help)
      show_help "$0"
      exit
      ;;
    --expired) expired=1 ;;
    --name | --days)
      (($# > 1)) || usage "$1 needs a value"
      if [[ $1 == --name ]]; then
        [[ $2 =~ ^[A-Za-z0-9.:*_-]+$ ]] || usage "--name: '$2' is neither a DNS name nor an address"
        names+=("$2")
      else
        [[ $2 =~ ^[1-9][0-9]{0,2}$ ]] && (($2 <= 365)) || usage "--days: '$2' is not a number from 1 to 365"
        days=$2
      fi
      shift
      ;;
    -*) usage "unknown argument '$1'" ;;
    *)
      [[ -z $folder ]] || usage "a second folder, '$1'; one is accepted"
      [[ -n $1 ]] || usage "the folder's name is empty"
      folder=$1
      ;;
  esac
  shift
done
[[ -n $folder ]] || usage "which folder? DIR is missing"
command -v openssl >/dev/null || die "openssl is missing (Debian: apt-get install openssl)"
[[ ! -e $folder || -d $folder ]] || die "'$folder' is not a folder"
[[ -z $(ls -A "$folder" 2>/dev/null) ]] || die "'$folder' is not empty: nothing is overwritten"

umask 077
mkdir -p "$folder" 2>/dev/null || die "'$folder' cannot be made"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
alternatives=$(for name in "${names[@]}"; do entry "$name"; done | sort -u | paste -sd,)
configure
begin=$(at '-1 hour') end=$(at "+$days days")
make ca authority "$(at '-3 days')" "$(at "+$((days + 1)) days")" -selfsign -keyfile "$work/ca.key"
((!expired)) || begin=$(at '-2 days') end=$(at '-1 hour')
for name in server client; do
  make "$name" "$name" "$begin" "$end" -cert "$work/ca.pem" -keyfile "$work/ca.key"
done
chmod 644 "$work"/{ca,server,client}.pem
chmod 600 "$work"/{ca,server,client}.key
mv -n "$work"/{ca,server,client}.{pem,key} "$folder/" || die "'$folder' cannot be written"
say "$folder: a CA, and certificates of server ($alternatives) and client, until $end"
