/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <stdlib.h>

#include "model/hist.h"
#include "model/slice.h"

#define VALUES 20000

static uint64_t sorted[VALUES];
static struct hist hist, other;

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Log-uniform from 1 us to 1 h: every power of two gets its share. */
static uint64_t random_ns(unsigned int *seed)
{
	unsigned int exponent = 10 + rand_r(seed) % 31;

	return (1ULL << exponent) + (((uint64_t)rand_r(seed) << 16) & ((1ULL << exponent) - 1));
}

static void fill(struct hist *h, unsigned int seed)
{
	hist_reset(h);
	for (int i = 0; i < VALUES; i++) {
		sorted[i] = random_ns(&seed);
		hist_record(h, sorted[i]);
	}
	qsort(sorted, VALUES, sizeof(sorted[0]), compare);
}

static uint64_t sorted_percentile(double p)
{
	int rank = VALUES * p / 100;

	if (rank < VALUES * p / 100)
		rank++;
	return sorted[rank ? rank - 1 : 0];
}

TEST(percentiles_lie_within_3_2_percent_above_the_sorted_value)
{
	static const double percentiles[] = { 0, 1, 10, 25, 50, 75, 90, 99, 99.9, 100 };

	for (unsigned int seed = 1; seed <= 5; seed++) {
		fill(&hist, seed);
		for (unsigned int i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++) {
			uint64_t exact = sorted_percentile(percentiles[i]);
			uint64_t told = hist_percentile(&hist, percentiles[i]);

			assert_true(told >= exact);
			assert_true(told - exact <= exact * 0.032);
		}
	}
}

TEST(count_sum_min_and_max_are_exact)
{
	uint64_t sum = 0;

	fill(&hist, 7);
	for (int i = 0; i < VALUES; i++)
		sum += sorted[i];
	assert_int_equal(hist.count, VALUES);
	assert_int_equal(hist.sum_ns, sum);
	assert_int_equal(hist.min_ns, sorted[0]);
	assert_int_equal(hist.max_ns, sorted[VALUES - 1]);
	assert_int_equal(hist_percentile(&hist, 100), sorted[VALUES - 1]);
}

TEST(an_empty_histogram_has_no_percentile)
{
	hist_reset(&hist);
	assert_int_equal(hist_percentile(&hist, 50), 0);
	assert_int_equal(hist_count_between(&hist, 0, UINT64_MAX), 0);
}

TEST(a_single_value_is_every_percentile)
{
	hist_reset(&hist);
	hist_record(&hist, 5921250);
	assert_int_equal(hist_percentile(&hist, 0), 5921250);
	assert_int_equal(hist_percentile(&hist, 50), 5921250);
	assert_int_equal(hist_percentile(&hist, 100), 5921250);
}

TEST(merged_histograms_are_the_histogram_of_both)
{
	static struct hist both;
	unsigned int seed = 11;

	hist_reset(&hist);
	hist_reset(&other);
	hist_reset(&both);
	for (int i = 0; i < VALUES; i++) {
		uint64_t ns = random_ns(&seed);

		hist_record(i % 3 ? &hist : &other, ns);
		hist_record(&both, ns);
	}
	hist_merge(&hist, &other);
	assert_memory_equal(&hist, &both, sizeof(both));
}

TEST(merging_an_empty_histogram_changes_nothing)
{
	hist_reset(&hist);
	hist_reset(&other);
	hist_record(&hist, 5000);
	hist_merge(&hist, &other);
	assert_int_equal(hist.min_ns, 5000);
	hist_merge(&other, &hist);
	assert_memory_equal(&other, &hist, sizeof(hist));
}

TEST(powers_of_two_are_borders_of_buckets)
{
	for (int bits = HIST_MIN_BITS; bits < HIST_MAX_BITS; bits++) {
		uint64_t power = 1ULL << bits;

		hist_reset(&hist);
		hist_record(&hist, power - 1);
		hist_record(&hist, power);
		hist_record(&hist, power + power / 2);
		if (bits < HIST_MAX_BITS - 1)
			hist_record(&hist, 2 * power);
		assert_int_equal(hist_count_between(&hist, power, 2 * power), 2);
		assert_int_equal(hist_count_between(&hist, 0, power), 1);
	}
}

TEST(values_out_of_range_count_in_the_end_buckets)
{
	hist_reset(&hist);
	hist_record(&hist, 0);
	hist_record(&hist, 1);
	hist_record(&hist, 2ULL << HIST_MAX_BITS);
	hist_record(&hist, UINT64_MAX >> 1);
	assert_int_equal(hist_count_between(&hist, 0, 1024), 2);
	assert_int_equal(hist_count_between(&hist, 0, UINT64_MAX), 4);
	assert_int_equal(hist_percentile(&hist, 100), UINT64_MAX >> 1);
	assert_int_equal(hist.min_ns, 0);
}

TEST(a_value_just_below_a_border_stays_below_it)
{
	hist_reset(&hist);
	for (int i = 0; i < 100; i++)
		hist_record(&hist, 2097151);
	hist_record(&hist, 1ULL << 40);
	assert_int_equal(hist_percentile(&hist, 50), 2097151);
}

TEST(slices_merge_into_the_histogram_of_their_values)
{
	static struct hist both;
	struct slice slices[3] = { 0 }, copy;
	unsigned int seed = 13;

	hist_reset(&hist);
	hist_reset(&both);
	for (int i = 0; i < VALUES; i++) {
		uint64_t ns = i % 100 ? random_ns(&seed) : (uint64_t)i << 40;

		hist_record(&both, ns);
		assert_int_equal(slice_record(&slices[i % 3], ns), 0);
	}
	copy = slices[0];
	assert_int_equal(slice_unshare(&copy), 0);
	slice_record(&slices[0], 1);
	slice_merge(&hist, &copy);
	slice_merge(&hist, &slices[1]);
	slice_merge(&hist, &slices[2]);
	assert_memory_equal(&hist, &both, sizeof(both));
	slice_reset(&slices[0]);
	hist_reset(&hist);
	slice_merge(&hist, &slices[0]);
	assert_int_equal(hist.count, 0);
	slice_free(&copy);
	for (int i = 0; i < 3; i++)
		slice_free(&slices[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_lie_within_3_2_percent_above_the_sorted_value),
		cmocka_unit_test(count_sum_min_and_max_are_exact),
		cmocka_unit_test(an_empty_histogram_has_no_percentile),
		cmocka_unit_test(a_single_value_is_every_percentile),
		cmocka_unit_test(merged_histograms_are_the_histogram_of_both),
		cmocka_unit_test(merging_an_empty_histogram_changes_nothing),
		cmocka_unit_test(powers_of_two_are_borders_of_buckets),
		cmocka_unit_test(values_out_of_range_count_in_the_end_buckets),
		cmocka_unit_test(a_value_just_below_a_border_stays_below_it),
		cmocka_unit_test(slices_merge_into_the_histogram_of_their_values),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
