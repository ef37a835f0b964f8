/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/conn.h"
#include "target/elffile.h"
#include "target/prologue.h"
#include "target/symbols.h"

static const struct {
	const char *symbol;
	int first, last;
	enum phase phase;
} functions[] = {
#define ROW(name, symbol, first, last, phase) { symbol, first, last, phase },
	FUNCTIONS(ROW)
#undef ROW
};

static const struct {
	const char *symbol;
	size_t size;
} variables[] = {
#define ROW(name, symbol, size) { symbol, size },
	VARIABLES(ROW)
#undef ROW
};

const char *function_symbol(enum function f)
{
	return functions[f].symbol;
}

int function_first_version(enum function f)
{
	return functions[f].first;
}

int function_last_version(enum function f)
{
	return functions[f].last;
}

bool function_expected(enum function f, int major)
{
	return functions[f].first <= major && major <= functions[f].last;
}

enum phase function_phase(enum function f)
{
	return functions[f].phase;
}

const char *variable_symbol(enum variable v)
{
	return variables[v].symbol;
}

enum function function_ready(int major, bool *at_return)
{
	*at_return = major >= 17;
	if (major >= 17)
		return FUNCTION_EVENT_TRIGGER_LOGIN;
	return major >= 14 ? FUNCTION_REPORT_CONNECT : FUNCTION_BEGIN_REPORTING;
}

enum function function_accept(int major)
{
	return major >= 17 ? FUNCTION_ACCEPT_CONNECTION : FUNCTION_STREAM_CONNECTION;
}

enum function symbols_ready(const struct symbols *s, bool *at_return)
{
	enum function ready = function_ready(s->major, at_return);

	if (s->functions[ready].value)
		return ready;
	*at_return = false;
	return s->functions[FUNCTION_BEGIN_REPORTING].value ? FUNCTION_BEGIN_REPORTING
							    : FUNCTION_COUNT;
}

/* Another function stands in for these; only a little of the phase's end is lost. */
static bool marks_ready_only(enum function f)
{
	return f == FUNCTION_REPORT_CONNECT || f == FUNCTION_BEGIN_REPORTING;
}

const char *function_loss(enum function f, char *buf, size_t len)
{
	static const char *const other[FUNCTION_COUNT] = {
		[FUNCTION_SECURE_OPEN_SERVER] = "the time of TLS negotiation",
		[FUNCTION_SECURE_OPEN_GSSAPI] = "the time of GSS negotiation",
		[FUNCTION_INIT_POSTGRES] = "user and database",
		[FUNCTION_ERRCODE] = "the SQLSTATE of failures",
	};
	enum phase phase = functions[f].phase;

	if (other[f])
		snprintf(buf, len, "%s cannot be told", other[f]);
	else if (f == FUNCTION_GETNAMEINFO)
		snprintf(buf, len, "no connection can be told, nor its phase %s",
			 phase_name(phase));
	else if (marks_ready_only(f))
		snprintf(buf, len, "the phase %s ends a little early", phase_name(phase));
	else if (phase == PHASE_FORK)
		snprintf(buf, len, "the phases queue and fork are missing");
	else
		snprintf(buf, len, "the phase %s is missing, its time stands in the phase before",
			 phase_name(phase));
	return buf;
}

unsigned int function_missing_phases(enum function f)
{
	enum phase phase = functions[f].phase;

	if (phase == PHASE_UNKNOWN || marks_ready_only(f))
		return 0;
	/* what a connection waited for before accept is known only where accept is seen */
	return 1U << phase | (phase == PHASE_FORK ? 1U << PHASE_QUEUE : 0);
}

unsigned int symbols_missing_phases(const struct symbols *s)
{
	unsigned int missing = 0;

	for (enum function f = 0; f < FUNCTION_COUNT; f++)
		if (!s->functions[f].value && function_expected(f, s->major))
			missing |= function_missing_phases(f);
	return missing;
}

static void probe_place(int fd, struct symbol *symbol)
{
	uint8_t code[PROLOGUE_LEN];
	size_t len = symbol->size && symbol->size < sizeof(code) ? symbol->size : sizeof(code);
	ssize_t got = pread(fd, code, len, symbol->entry_offset);

	symbol->probe_offset = symbol->entry_offset;
	symbol->single_stepped = true;
	if (got > 0)
		symbol->probe_offset +=
			prologue_skip(ELFFILE_MACHINE, code, got, &symbol->single_stepped);
}

/* A function that is defined here, in an executable segment, and not at offset 0 of the file. */
static void function_found(int fd, Elf *elf, const GElf_Sym *sym, struct symbol *out)
{
	if (out->value || GELF_ST_TYPE(sym->st_info) != STT_FUNC)
		return;
	if (!elffile_offset(elf, sym->st_value, true, &out->entry_offset) || !out->entry_offset)
		return;
	out->value = sym->st_value;
	out->size = sym->st_size;
	probe_place(fd, out);
}

/* Of another size it is another variable than the one that we know how to read. */
static void variable_found(const GElf_Sym *sym, size_t size, struct symbol *out)
{
	if (out->value || GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_size != size)
		return;
	out->value = sym->st_value;
	out->size = sym->st_size;
}

/* What to do with each defined symbol; false ends the walk. */
typedef bool symbol_visitor(Elf *elf, const char *name, const GElf_Sym *sym, void *context);

static bool table_walk(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, symbol_visitor *visit,
		       void *context)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	const char *name;
	GElf_Sym sym;

	for (size_t i = 0; i < count; i++) {
		if (!gelf_getsym(data, i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_value)
			continue;
		name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (name && !visit(elf, name, &sym, context))
			return false;
	}
	return true;
}

/* -ENOEXEC when there is no symbol table: stripped to the bone, or cut off. */
static int symbols_walk(Elf *elf, symbol_visitor *visit, void *context, char *err, size_t err_len)
{
	static const unsigned int order[] = { SHT_DYNSYM, SHT_SYMTAB };
	Elf_Scn *section;
	GElf_Shdr header;
	bool any = false;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		section = NULL;
		while ((section = elf_nextscn(elf, section))) {
			if (!gelf_getshdr(section, &header) || header.sh_type != order[i])
				continue;
			any = true;
			if (!table_walk(elf, section, &header, visit, context))
				return 0;
		}
	}
	if (any)
		return 0;
	snprintf(err, err_len, "an ELF file without a symbol table, or a truncated one");
	return -ENOEXEC;
}

struct wanted {
	int fd;
	struct symbols *symbols;
};

static bool wanted_visit(Elf *elf, const char *name, const GElf_Sym *sym, void *context)
{
	struct wanted *wanted = context;

	for (enum function f = 0; f < FUNCTION_COUNT; f++)
		if (!strcmp(functions[f].symbol, name))
			function_found(wanted->fd, elf, sym, &wanted->symbols->functions[f]);
	for (enum variable v = 0; v < VARIABLE_COUNT; v++)
		if (!strcmp(variables[v].symbol, name))
			variable_found(sym, variables[v].size, &wanted->symbols->variables[v]);
	return true;
}

/* "PostgreSQL 15.18 (Debian ...", "PostgreSQL 19rc1 on x86_64 ..."; not a message's
 * "PostgreSQL 9.1." */
static bool version_ends(const char *text, const char *end)
{
	size_t left = end - text;

	return (left >= 2 && !memcmp(text, " (", 2)) || (left >= 4 && !memcmp(text, " on ", 4));
}

static bool version_parse(const char *text, const char *end, struct symbols *out)
{
	size_t len = 0;

	while (text + len < end && len < sizeof(out->version) - 1 &&
	       (isalnum((unsigned char)text[len]) || text[len] == '.'))
		len++;
	if (!len || !isdigit((unsigned char)text[0]) || !version_ends(text + len, end))
		return false;
	memcpy(out->version, text, len);
	out->version[len] = '\0';
	out->major = atoi(out->version);
	return true;
}

static void version_find(Elf *elf, struct symbols *out)
{
	static const char mark[] = "PostgreSQL ";
	GElf_Shdr header;
	Elf_Data *data = elffile_section(elf, ".rodata", &header);
	const char *at, *end;

	if (!data || !data->d_buf)
		return;
	end = (const char *)data->d_buf + data->d_size;
	for (at = data->d_buf; (at = memmem(at, end - at, mark, sizeof(mark) - 1));) {
		at += sizeof(mark) - 1;
		if (version_parse(at, end, out))
			return;
	}
}

/* A version text that a packager has changed leaves the functions, which came and went. */
static int major_guess(const struct symbols *s)
{
	if (s->functions[FUNCTION_ACCEPT_CONNECTION].value)
		return 17;
	return s->functions[FUNCTION_REPORT_CONNECT].value ? 14 : 13;
}

int symbols_read(int fd, struct symbols *out, char *err, size_t err_len)
{
	struct wanted wanted = { fd, out };
	Elf *elf;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = elffile_open(fd, &elf, err, err_len);
	if (ret)
		return ret;
	ret = symbols_walk(elf, wanted_visit, &wanted, err, err_len);
	if (!ret)
		version_find(elf, out);
	if (!out->major)
		out->major = major_guess(out);
	elf_end(elf);
	return ret;
}

struct one {
	int fd;
	const char *name;
	struct symbol *symbol;
};

static bool one_visit(Elf *elf, const char *name, const GElf_Sym *sym, void *context)
{
	struct one *one = context;

	if (!strcmp(name, one->name))
		function_found(one->fd, elf, sym, one->symbol);
	return !one->symbol->value;
}

int symbols_find(int fd, const char *name, struct symbol *out, char *err, size_t err_len)
{
	struct one one = { fd, name, out };
	Elf *elf;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = elffile_open(fd, &elf, err, err_len);
	if (ret)
		return ret;
	ret = symbols_walk(elf, one_visit, &one, err, err_len);
	elf_end(elf);
	if (!ret && !out->value) {
		snprintf(err, err_len, "no function %s", name);
		ret = -ENOENT;
	}
	return ret;
}
