/* SPDX-License-Identifier: Apache-2.0
 * Indexing of JSON text, 64 bytes a step: classify bytes into bit masks, then find strings and tokens by
 * arithmetic. With AVX-512 or AVX2 where the machine has them. Source: Langdale and Lemire, "Parsing
 * Gigabytes of JSON per Second".
 */
#include "tools/format/json_index_int.h"

#include <string.h>

#include "engine/base/compiler.h"
#include "engine/base/utf8.h"
#include "tools/format/limits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX 1
#define AVX2	 __attribute__((target("avx2,bmi")))
#define AVX512	 __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,popcnt,pclmul")))
#else
#define HAVE_AVX 0
#endif

#define BLOCK 64u

/* One bit a byte of a block. */
struct masks {
	uint64_t quote, backslash, space, operator_, control, high;
};

/* Functions with an implementation per instruction set. */
struct ways {
	void (*classify)(const char *block, struct masks *out);
	/* Bit i of the result is the parity of the bits 0 to i. */
	uint64_t (*prefix_xor)(uint64_t bits);
	/* Appends the positions of the bits, plus at, to the n existing ones; may write a few more that are
	 * ignored. Returns the new number. */
	uint32_t (*write)(uint32_t *index, uint32_t n, uint32_t at, uint64_t bits);
};

/* State passed from one block to the next. */
struct carry {
	uint64_t escaped;      /* 1: the first byte is escaped */
	uint64_t in_string;    /* all ones inside a string */
	uint64_t scalar;       /* 1: the last byte belonged to a number or a word */
	size_t checked_offset; /* UTF-8 is checked up to here */
	size_t low_offset;     /* the u of the low surrogate that is already known to be paired */
};

struct fault {
	size_t offset;
	const char *text;
};

static void check_utf8(
	const char *text, size_t len, size_t offset, uint64_t high, struct carry *carry, struct fault *fault)
{
	size_t end = offset + BLOCK < len ? offset + BLOCK : len;
	size_t at = offset + (size_t)__builtin_ctzll(high);

	at = at > carry->checked_offset ? at : carry->checked_offset;
	while (at < end) {
		size_t n = bt_utf8_bytes((const unsigned char *)text + at, len - at);

		if (n == 0) {
			*fault = (struct fault){at, "invalid UTF-8"};
			return;
		}
		at += n;
	}
	carry->checked_offset = at;
}

/* The value of four hexadecimal digits, or -1. */
static int32_t hex4(const char *p, size_t left)
{
	int32_t value = 0;

	if (left < 4) {
		return -1;
	}
	for (size_t i = 0; i < 4; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9') {
			value = value * 16 + (c - '0');
		} else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
			value = value * 16 + ((c | 0x20) - 'a' + 10);
		} else {
			return -1;
		}
	}
	return value;
}

/* Checks the escape whose letter is at offset. Returns the error or NULL. */
static const char *check_escape(const char *text, size_t len, size_t offset, struct carry *carry)
{
	const char *p = text + offset;
	size_t left = len - offset;

	if (*p != 'u') {
		return *p && strchr("\"\\/bfnrt", *p) ? NULL : "bad escape in a string";
	}
	int32_t unit = hex4(p + 1, left - 1);
	if (unit < 0) {
		return "bad \\u escape in a string";
	}
	if (unit >= 0xdc00 && unit <= 0xdfff) {
		return carry->low_offset == offset ? NULL : "lone surrogate in a string";
	}
	if (unit < 0xd800 || unit > 0xdfff) {
		return NULL;
	}
	int32_t low = left >= 11 && p[5] == '\\' && p[6] == 'u' ? hex4(p + 7, left - 7) : -1;
	if (low < 0xdc00 || low > 0xdfff) {
		return "lone surrogate in a string";
	}
	carry->low_offset = offset + 6;
	return NULL;
}

static void check_escapes(const char *text, size_t len, size_t offset, uint64_t escaped, struct carry *carry,
	struct fault *fault)
{
	for (; escaped; escaped &= escaped - 1) {
		size_t at = offset + (size_t)__builtin_ctzll(escaped);

		if (at >= len) {
			return;
		}
		const char *problem = check_escape(text, len, at, carry);
		if (problem) {
			if (at < fault->offset) {
				*fault = (struct fault){at, problem};
			}
			return;
		}
	}
}

/* The bytes after an odd run of backslashes. */
static inline uint64_t find_escaped(uint64_t backslash, struct carry *carry)
{
	const uint64_t even = 0x5555555555555555u;
	uint64_t escaped = carry->escaped;

	if (!backslash) {
		carry->escaped = 0;
		return escaped;
	}
	backslash &= ~carry->escaped;
	uint64_t follows = backslash << 1 | carry->escaped;
	uint64_t odd_starts = backslash & ~even & ~follows;
	unsigned long long sum;
	carry->escaped = __builtin_uaddll_overflow(odd_starts, backslash, &sum);
	return (even ^ (uint64_t)sum << 1) & follows;
}

static inline uint64_t prefix_xor_portable(uint64_t bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	bits ^= bits << 4;
	bits ^= bits << 8;
	bits ^= bits << 16;
	return bits ^ bits << 32;
}

/* The bits of the bytes where tokens begin; fault->offset is lowered to the first error in a string. */
BT_INLINE uint64_t find_tokens(const char *text, size_t len, size_t offset, const struct masks *m,
	struct ways ways, struct carry *carry, struct fault *fault)
{
	uint64_t escaped = find_escaped(m->backslash, carry);
	uint64_t quote = m->quote & ~escaped;
	uint64_t in_string = ways.prefix_xor(quote) ^ carry->in_string;
	uint64_t scalar = ~(m->operator_ | m->space);
	uint64_t word = scalar & ~quote;
	uint64_t starts = scalar & ~(word << 1 | carry->scalar);
	uint64_t bad = m->control & in_string;

	carry->in_string = (uint64_t)((int64_t)in_string >> 63);
	carry->scalar = word >> 63;
	if (BT_UNLIKELY(bad)) {
		*fault = (struct fault){
			offset + (size_t)__builtin_ctzll(bad), "control character in a string"};
	}
	if (BT_UNLIKELY(m->high)) {
		struct fault utf8 = *fault;

		check_utf8(text, len, offset, m->high, carry, &utf8);
		*fault = utf8.offset < fault->offset ? utf8 : *fault;
	}
	if (BT_UNLIKELY(escaped & in_string)) {
		check_escapes(text, len, offset, escaped & in_string, carry, fault);
	}
	return (m->operator_ | starts) & ~(in_string ^ quote);
}

static inline uint32_t write_portable(uint32_t *index, uint32_t n, uint32_t at, uint64_t tokens)
{
	uint32_t count = (uint32_t)__builtin_popcountll(tokens);

	/* Eight at a time whether needed or not: the branch on the count is the cost, not the stores. */
	for (uint32_t i = 0; i < count; i += 8) {
		for (uint32_t k = 0; k < 8; k++) {
			index[n + i + k] = at + (tokens ? (uint32_t)__builtin_ctzll(tokens) : 0);
			tokens &= tokens - 1;
		}
	}
	return n + count;
}

/* Adds the tokens of one block to the window. Returns false on an error. */
BT_INLINE bool index_block(const char *text, size_t len, size_t begin, size_t offset, struct ways ways,
	struct carry *carry, struct bt_json_window *out)
{
	const char *block = text + offset;
	char tail[BLOCK];
	struct masks masks;
	struct fault fault = {SIZE_MAX, NULL};

	if (BT_UNLIKELY(len - offset < BLOCK)) {
		memset(tail, ' ', sizeof(tail));
		memcpy(tail, block, len - offset);
		block = tail;
	}
	ways.classify(block, &masks);
	uint64_t tokens = find_tokens(text, len, offset, &masks, ways, carry, &fault);
	if (BT_UNLIKELY(fault.text != NULL)) {
		if (fault.offset < offset + BLOCK) {
			tokens &= ((uint64_t)1 << (fault.offset - offset)) - 1;
		}
		out->status = BT_INVALID;
		out->error_offset = fault.offset;
		out->error_text = fault.text;
	}
	out->n = ways.write(out->index, out->n, (uint32_t)(offset - begin), tokens);
	return fault.text == NULL;
}

static void json_index_fail(
	struct bt_json_window *out, enum bt_status status, size_t offset, const char *text)
{
	out->status = status;
	out->error_offset = offset;
	out->error_text = text;
}

BT_INLINE bool index_window(const char *text, size_t len, size_t offset, bool in_word, struct ways ways,
	struct bt_json_window *out)
{
	struct carry carry = {.low_offset = SIZE_MAX, .scalar = in_word};
	size_t at = offset;

	out->base = text + offset;
	out->n = 0;
	out->status = BT_OK;
	/* A window ends when it is long enough, but has a token, and not inside its only string. */
	while (at < len &&
		(at - offset < BT_JSON_WINDOW_BYTES || out->n == 0 || (carry.in_string && out->n == 1))) {
		if (BT_UNLIKELY(at - offset > BT_LIMIT_STRING_BYTES)) {
			json_index_fail(out, BT_RANGE, offset, "a string or a gap is longer than allowed");
			break;
		}
		if (!index_block(text, len, offset, at, ways, &carry, out)) {
			break;
		}
		at += BLOCK;
	}
	at = at < len ? at : len;
	out->next_offset = at;
	out->next_in_word = carry.scalar;
	if (out->status == BT_OK && carry.in_string) {
		if (at == len) {
			json_index_fail(out, BT_TRUNCATED, len, "the text ends inside a string");
		} else {
			out->n--;
			out->next_offset = offset + out->index[out->n];
			out->next_in_word = false;
		}
	}
	return out->n > 0;
}

static void classify_portable(const char *block, struct masks *out)
{
	*out = (struct masks){0};
	for (uint32_t i = 0; i < BLOCK; i++) {
		unsigned char c = (unsigned char)block[i];
		uint64_t bit = (uint64_t)1 << i;

		out->quote |= c == '"' ? bit : 0;
		out->backslash |= c == '\\' ? bit : 0;
		out->space |= c == ' ' || c == '\n' || c == '\t' || c == '\r' ? bit : 0;
		out->operator_ |= c == ',' || c == ':' || (c | 0x20) == '{' || (c | 0x20) == '}' ? bit : 0;
		out->control |= c < 0x20 ? bit : 0;
		out->high |= c >= 0x80 ? bit : 0;
	}
}

static bool index_portable(
	const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out)
{
	const struct ways ways = {classify_portable, prefix_xor_portable, write_portable};

	return index_window(text, len, offset, in_word, ways, out);
}

#if HAVE_AVX
AVX2 static inline uint64_t bits2(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline uint64_t equal(__m256i low, __m256i high, char c)
{
	__m256i want = _mm256_set1_epi8(c);

	return bits2(_mm256_cmpeq_epi8(low, want), _mm256_cmpeq_epi8(high, want));
}

/* Bytes that equal the table's entry for their low four bits; a byte that is or'ed with bit first. */
AVX2 static inline uint64_t lookup(__m256i low, __m256i high, __m256i table, char bit)
{
	__m256i set = _mm256_set1_epi8(bit);

	return bits2(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, low), _mm256_or_si256(low, set)),
		_mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, high), _mm256_or_si256(high, set)));
}

AVX2 static inline void classify_avx2(const char *block, struct masks *out)
{
	const __m256i space = _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0, ' ',
		0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0);
	/* Or'ed with 0x20, [ and ] become { and }; a few control characters match too and are rejected as
	 * tokens. */
	const __m256i operator_ = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0);
	const __m256i last_control = _mm256_set1_epi8(0x1f);
	__m256i low = _mm256_loadu_si256((const __m256i *)(const void *)block);
	__m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(block + 32));

	out->quote = equal(low, high, '"');
	out->backslash = equal(low, high, '\\');
	out->space = lookup(low, high, space, 0);
	out->operator_ = lookup(low, high, operator_, 0x20);
	out->control = bits2(_mm256_cmpeq_epi8(_mm256_max_epu8(low, last_control), last_control),
		_mm256_cmpeq_epi8(_mm256_max_epu8(high, last_control), last_control));
	out->high = bits2(low, high);
}

AVX2 static bool index_avx2(
	const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out)
{
	const struct ways ways = {classify_avx2, prefix_xor_portable, write_portable};

	return index_window(text, len, offset, in_word, ways, out);
}

AVX512 static inline void classify_avx512(const char *block, struct masks *out)
{
	/* As with AVX2, four at a time. */
	const __m512i space = _mm512_broadcast_i32x4(
		_mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0));
	const __m512i operator_ =
		_mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0));
	const __m512i bytes = _mm512_loadu_si512(block);

	out->quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
	out->backslash = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
	out->space = _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(space, bytes), bytes);
	out->operator_ = _mm512_cmpeq_epi8_mask(
		_mm512_shuffle_epi8(operator_, bytes), _mm512_or_si512(bytes, _mm512_set1_epi8(0x20)));
	out->control = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
	out->high = _mm512_movepi8_mask(bytes);
}

/* A carry-less product with all ones is the prefix xor. */
AVX512 static inline uint64_t prefix_xor_avx512(uint64_t bits)
{
	return (uint64_t)_mm_cvtsi128_si64(
		_mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xff), 0));
}

AVX512 static inline uint32_t write_avx512(uint32_t *index, uint32_t n, uint32_t at, uint64_t tokens)
{
	static const uint8_t places[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41,
		42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
	const uint32_t count = (uint32_t)__builtin_popcountll(tokens);
	const __m512i base = _mm512_set1_epi32((int32_t)at);
	__m512i found = _mm512_maskz_compress_epi8(tokens, _mm512_loadu_si512(places));

	_mm512_storeu_si512(
		index + n, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found))));
	for (uint32_t i = 16; BT_UNLIKELY(i < count); i += 16) {
		found = _mm512_shuffle_i32x4(found, found, _MM_SHUFFLE(0, 3, 2, 1));
		_mm512_storeu_si512(index + n + i,
			_mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found))));
	}
	return n + count;
}

AVX512 static bool index_avx512(
	const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out)
{
	const struct ways ways = {classify_avx512, prefix_xor_avx512, write_avx512};

	return index_window(text, len, offset, in_word, ways, out);
}

#endif

bt_json_index_fn *bt_json_index_way(uint32_t ix)
{
	bt_json_index_fn *ways[4] = {NULL};
	uint32_t n = 0;

#if HAVE_AVX
	if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("bmi")) {
		ways[n++] = index_avx512;
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")) {
		ways[n++] = index_avx2;
	}
#endif
	ways[n++] = index_portable;
	return ix < n ? ways[ix] : NULL;
}

bool bt_json_index(const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out)
{
	return bt_json_index_way(0)(text, len, offset, in_word, out);
}
