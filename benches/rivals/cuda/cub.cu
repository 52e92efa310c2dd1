// Times CUB on the rows of ragged-bench and prints one measurement per line, as JSON.
//
//   ./cub [--values N] [--repeat R] [--row-lengths FILE]
//
// Times are medians from the call to the end of the work; gpu_ms is by the device's clock. Temporary storage is allocated
// before. The rows are those of crates/ragged-bench/src/rows.rs.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <cub/cub.cuh>

#define CHECK(call)                                                                                                     \
    do {                                                                                                                \
        cudaError_t status = (call);                                                                                    \
        if (status != cudaSuccess) {                                                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                        \
            std::exit(1);                                                                                               \
        }                                                                                                               \
    } while (0)

static uint64_t splitmix64(uint64_t x) {
    uint64_t z = x + 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static uint64_t row_length(const std::string& dist, uint64_t h) {
    if (dist == "uniform") return h % 32;
    if (dist == "giant") return h % 16;
    if (dist == "empty") return h % 16 == 0 ? (h >> 8) % 256 : 0;
    double u = (double(h >> 11) + 1.0) / 9007199254740992.0;
    return std::min<uint64_t>(4096, uint64_t(std::floor(4.0 / u)));
}

static std::vector<uint32_t> filled(uint64_t target, const std::function<uint64_t(uint64_t)>& length) {
    std::vector<uint32_t> out;
    for (uint64_t i = 0, total = 0; total < target; i++) {
        uint64_t l = std::min(length(i), target - total);
        total += l;
        out.push_back(uint32_t(l));
    }
    return out;
}

static std::vector<uint32_t> of_distribution(const std::string& dist, uint64_t values) {
    uint64_t target = dist == "giant" ? values / 2 : values;
    auto out = filled(target, [&](uint64_t i) { return row_length(dist, splitmix64(0x5EED + i)); });
    if (out.empty()) out.push_back(0);
    if (dist == "giant") out[out.size() / 2] += uint32_t(values - target);
    return out;
}

static std::vector<uint32_t> of_file(const char* path, uint64_t values) {
    std::ifstream file(path);
    std::vector<uint32_t> lengths;
    uint64_t sum = 0;
    for (uint32_t l; file >> l; sum += l) lengths.push_back(l);
    if (sum == 0) {
        std::fprintf(stderr, "%s: no row has a value\n", path);
        std::exit(1);
    }
    for (uint64_t k = lengths.size() - 1; k > 0; k--) std::swap(lengths[k], lengths[splitmix64(0x5EED + k) % (k + 1)]);
    return filled(values, [&](uint64_t i) { return lengths[i % lengths.size()]; });
}

struct Above {
    __host__ __device__ bool operator()(uint32_t v) const { return v > 511; }
};

template <typename T>
static T* on_device(const std::vector<T>& host) {
    T* out;
    CHECK(cudaMalloc(&out, std::max<size_t>(1, host.size()) * sizeof(T)));
    CHECK(cudaMemcpy(out, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return out;
}

static std::string device_name;
static uint64_t values = 1 << 22;
static int repeats = 7;

// Times `run`, a CUB call. Without storage it returns the required size.
static void time_it(const std::string& dist, const char* op, size_t rows,
                    const std::function<cudaError_t(void*, size_t&)>& run) {
    size_t bytes = 0;
    void* storage = nullptr;
    CHECK(run(nullptr, bytes));
    CHECK(cudaMalloc(&storage, std::max<size_t>(1, bytes)));
    CHECK(run(storage, bytes));
    CHECK(cudaDeviceSynchronize());
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<double> wall, gpu;
    for (int k = 0; k < repeats; k++) {
        auto start = std::chrono::steady_clock::now();
        CHECK(cudaEventRecord(begin));
        CHECK(run(storage, bytes));
        CHECK(cudaEventRecord(end));
        CHECK(cudaDeviceSynchronize());
        wall.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        gpu.push_back(ms);
    }
    CHECK(cudaFree(storage));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(wall.begin(), wall.end());
    std::sort(gpu.begin(), gpu.end());
    std::printf("{\"peer\":\"cub\",\"device\":\"%s\",\"dist\":\"%s\",\"op\":\"%s\",\"values\":%llu,\"rows\":%zu,"
                "\"ms\":%.6f,\"gpu_ms\":%.6f}\n",
                device_name.c_str(), dist.c_str(), op, (unsigned long long)values, rows, wall[wall.size() / 2],
                gpu[gpu.size() / 2]);
    std::fflush(stdout);
}

static void rows_of(const std::string& dist, const std::vector<uint32_t>& lengths, const float* x, float* out) {
    std::vector<uint32_t> splits(1, 0);
    for (uint32_t l : lengths) splits.push_back(splits.back() + l);
    int rows = int(lengths.size()), n = int(values);
    uint32_t* s = on_device(splits);
    float* sums = on_device(std::vector<float>(rows));
    time_it(dist, "sum", rows, [&](void* t, size_t& b) { return cub::DeviceSegmentedReduce::Sum(t, b, x, sums, rows, s, s + 1); });
    time_it(dist, "max", rows, [&](void* t, size_t& b) { return cub::DeviceSegmentedReduce::Max(t, b, x, sums, rows, s, s + 1); });
    time_it(dist, "sort", rows, [&](void* t, size_t& b) { return cub::DeviceSegmentedSort::SortKeys(t, b, x, out, n, rows, s, s + 1); });
    CHECK(cudaFree(s));
    CHECK(cudaFree(sums));
}

int main(int argc, char** argv) {
    std::vector<const char*> files;
    for (int k = 1; k < argc; k += 2) {
        const char* value = k + 1 < argc ? argv[k + 1] : "";
        if (!std::strcmp(argv[k], "--values")) values = std::strtoull(value, nullptr, 10);
        else if (!std::strcmp(argv[k], "--repeat")) repeats = std::atoi(value);
        else if (!std::strcmp(argv[k], "--row-lengths")) files.push_back(value);
        else values = 0;
    }
    if (values < 1 || values > (1u << 30) || repeats < 1) {
        std::fprintf(stderr, "cub [--values N] [--repeat R] [--row-lengths FILE]\n");
        return 2;
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    device_name = properties.name;

    std::vector<float> host(values);
    std::vector<uint32_t> tokens(values);
    for (uint64_t j = 0; j < values; j++) {
        host[j] = float(splitmix64(0xDA7A + j) >> 40) / 16777216.0f;
        tokens[j] = uint32_t(host[j] * 1024);
    }
    float *x = on_device(host), *out = on_device(host);
    uint32_t *words = on_device(tokens), *kept = on_device(tokens), *count = on_device(std::vector<uint32_t>(1));
    int n = int(values);

    if (files.empty()) {
        for (const char* dist : {"uniform", "pareto", "giant", "empty"}) rows_of(dist, of_distribution(dist, values), x, out);
    }
    for (const char* path : files) {
        std::string name(path);
        name = name.substr(name.find_last_of('/') + 1);
        rows_of(name.substr(0, name.find_last_of('.')), of_file(path, values), x, out);
    }
    time_it("flat", "flat_sum", 1, [&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, words, count, n); });
    time_it("flat", "flat_scan", 1, [&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, words, kept, n); });
    time_it("flat", "flat_select", 1, [&](void* t, size_t& b) { return cub::DeviceSelect::If(t, b, words, kept, count, n, Above()); });
    time_it("flat", "flat_sort", 1, [&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, words, kept, n); });
    time_it("flat", "copy", 1, [&](void* t, size_t& b) {
        b = 1;
        return t ? cudaMemcpyAsync(out, x, values * sizeof(float), cudaMemcpyDeviceToDevice) : cudaSuccess;
    });
    return 0;
}
