#include "src/workload/messages/slice_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

namespace cqbench {
namespace {

constexpr size_t kClasses = std::bit_width(SlicePool::kMaxPooled / SlicePool::kBuffer);
constexpr size_t kStockBytes = size_t{256}
                               << 10;  // of one size, that a thread takes from or gives to the store at once

// A payload of a power of two has its tag and length before it.
constexpr size_t kSlack = 64;

constexpr size_t SizeOf(size_t size_class) {
  return (SlicePool::kBuffer << size_class) + kSlack;
}
size_t ClassOf(size_t size) {
  if (size <= SizeOf(0)) return 0;
  return static_cast<size_t>(std::bit_width((size - kSlack - 1) / SlicePool::kBuffer));
}
size_t BatchOf(size_t size_class) {
  return std::max<size_t>(kStockBytes / SizeOf(size_class), 1);
}

std::atomic<uint64_t> allocated{0}, freed{0};

struct Buffer {
  explicit Buffer(size_t of) : size_class(of) {}
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }

  Buffer* next = nullptr;
  const size_t size_class;
};

Buffer* Allocate(size_t size_class) {
  allocated.fetch_add(1, std::memory_order_relaxed);
  return new (::operator new(sizeof(Buffer) + SizeOf(size_class))) Buffer(size_class);
}
void Free(Buffer* buffer) {
  freed.fetch_add(1, std::memory_order_relaxed);
  ::operator delete(buffer);
}

// Buffers of one size.
struct List {
  void Push(Buffer* buffer) {
    buffer->next = first;
    first = buffer;
    ++count;
  }
  Buffer* Pop() {
    if (first == nullptr) return nullptr;
    --count;
    return std::exchange(first, first->next);
  }
  Buffer* first = nullptr;
  size_t count = 0;
};
using Lists = std::array<List, kClasses>;

// Moves slices from threads with too many to threads with too few: one thread may send, another see the send complete.
class Store {
 public:
  // At most a batch.
  void Take(size_t size_class, List& into) {
    const std::lock_guard lock(mutex_);
    for (size_t n = BatchOf(size_class); n > 0; --n) {
      Buffer* const buffer = lists_[size_class].Pop();
      if (buffer == nullptr) return;
      bytes_ -= SizeOf(size_class);
      into.Push(buffer);
    }
  }
  void Give(size_t size_class, List& from, size_t n) {
    const std::lock_guard lock(mutex_);
    for (; n > 0; --n) {
      Buffer* const buffer = from.Pop();
      if (buffer == nullptr) return;
      if (bytes_ + SizeOf(size_class) > SlicePool::kMaxStored) {
        Free(buffer);
        continue;
      }
      bytes_ += SizeOf(size_class);
      lists_[size_class].Push(buffer);
    }
  }

 private:
  std::mutex mutex_;
  Lists lists_;       // guarded by mutex_
  size_t bytes_ = 0;  // guarded by mutex_
};

// Never destroyed: the library drops slices when threads and the process end, too.
Store& TheStore() {
  static Store* const store = new Store;
  return *store;
}

class Stock {
 public:
  Stock();
  ~Stock();
  Stock(const Stock&) = delete;
  Stock& operator=(const Stock&) = delete;

  grpc::Slice Cut(size_t size) {
    if (used_ + size > cut_from_.size()) {
      cut_from_ = Whole(0, SizeOf(0));
      used_ = 0;
    }
    const size_t begin = std::exchange(used_, used_ + size);
    return cut_from_.sub(begin, begin + size);
  }
  // A buffer to itself.
  grpc::Slice Whole(size_t size_class, size_t size) {
    List& list = lists_[size_class];
    if (list.count == 0) TheStore().Take(size_class, list);
    Buffer* buffer = list.Pop();
    if (buffer == nullptr) buffer = Allocate(size_class);
    return {buffer->bytes(), size, &Stock::Dropped, buffer};
  }

 private:
  // On the thread that drops the last reference, which may be ending.
  static void Dropped(void* dropped);
  void Put(Buffer* buffer) {
    List& list = lists_[buffer->size_class];
    const size_t batch = BatchOf(buffer->size_class);
    list.Push(buffer);
    if (list.count > 2 * batch) TheStore().Give(buffer->size_class, list, batch);
  }

  Lists lists_;
  grpc::Slice cut_from_;
  size_t used_ = 0;
};

// nullptr before the thread's first slice and after its end.
thread_local Stock* stock_of_thread = nullptr;

Stock::Stock() {
  stock_of_thread = this;
}
Stock::~Stock() {
  stock_of_thread = nullptr;
  cut_from_ = grpc::Slice();
  for (size_t i = 0; i < kClasses; ++i) TheStore().Give(i, lists_[i], lists_[i].count);
}
void Stock::Dropped(void* dropped) {
  auto* const buffer = static_cast<Buffer*>(dropped);
  if (stock_of_thread != nullptr) return stock_of_thread->Put(buffer);
  List one;
  one.Push(buffer);
  TheStore().Give(buffer->size_class, one, 1);
}

Stock& Mine() {
  thread_local Stock stock;
  return stock;
}

}  // namespace

grpc::Slice SlicePool::Make(size_t size) {
  if (size <= GRPC_SLICE_INLINED_SIZE) return grpc::Slice(size);  // has no memory of its own
  if (size <= kMaxCut) return Mine().Cut(size);
  if (size > kMaxPooled) return grpc::Slice(size);
  return Mine().Whole(ClassOf(size), size);
}

uint64_t SlicePool::Allocated() {
  return allocated.load(std::memory_order_relaxed);
}
uint64_t SlicePool::Freed() {
  return freed.load(std::memory_order_relaxed);
}

}  // namespace cqbench
