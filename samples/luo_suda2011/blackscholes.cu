// `Blackscholes` and `Blackscholes-7` of Table 3 of Luo and Suda (2011): 900000 European options by the formula of Black and Scholes, and the
// same where the results of seven equations get a parameter of their own added, which is a memory access each.

// The cumulative normal distribution, by the polynomial of Abramowitz and Stegun (26.2.17).
__device__ float normal(float x, float extra)
{
    float size = fabsf(x);
    float density = 0.39894228f * expf(-0.5f * x * x) + extra;
    float k = 1 / (1 + 0.2316419f * size);
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = density * sum;
    return x < 0 ? tail : 1 - tail;
}

// n: the number of options
// spot, strike, rate, volatility, years: of each option
// price: of each call
__global__ void blackscholes(int n, const float *spot, const float *strike, const float *rate, const float *volatility, const float *years,
                             float *price)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
    {
        float s = spot[i], x = strike[i], r = rate[i], v = volatility[i], t = years[i];
        float deviation = v * sqrtf(t);
        float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / deviation;
        float d2 = d1 - deviation;
        price[i] = s * normal(d1, 0) - x * expf(-r * t) * normal(d2, 0);
    }
}

// extra: seven values of each option, n apart
__global__ void blackscholes_7(int n, const float *spot, const float *strike, const float *rate, const float *volatility, const float *years,
                               const float *extra, float *price)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
    {
        float s = spot[i], x = strike[i], r = rate[i], v = volatility[i], t = years[i];
        float deviation = v * sqrtf(t) + extra[i];
        float logarithm = logf(s / x) + extra[i + n];
        float d1 = (logarithm + (r + 0.5f * v * v) * t) / deviation + extra[i + 2 * n];
        float d2 = d1 - deviation + extra[i + 3 * n];
        float discounted = x * expf(-r * t) + extra[i + 4 * n];
        price[i] = s * normal(d1, extra[i + 5 * n]) - discounted * normal(d2, extra[i + 6 * n]);
    }
}
