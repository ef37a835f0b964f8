# shellcheck shell=bash
# Packages of another Debian suite than this machine's, fetched and unpacked, never installed.
# Everything lies in $LAB_CACHE/SUITE-ARCH; the mirror is the one that apt uses here.

# suite_use SUITE [ARCH]: have suite_apt and suite_fetch mean SUITE; fetches its package lists
# unless that was done today.
suite_use() {
	local suite=$1 arch=${2:-$(dpkg --print-architecture)} mirror
	SUITE_DIR=$LAB_CACHE/$suite-$arch
	mirror=$(suite_mirror)
	mkdir -p "$SUITE_DIR"/apt/{lists/partial,archives/partial,etc/preferences.d,etc/apt.conf.d} \
		"$SUITE_DIR/debs"
	: >"$SUITE_DIR/apt/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
		>"$SUITE_DIR/apt/etc/sources.list"
	SUITE_OPTIONS=(
		-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch"
		-o "Dir::Etc=$SUITE_DIR/apt/etc" -o "Dir::State=$SUITE_DIR/apt"
		-o "Dir::State::status=$SUITE_DIR/apt/status" -o "Dir::Cache=$SUITE_DIR/apt"
		-o Dir::Etc::sourceparts=/dev/null -o Acquire::Languages=none
		-o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root
		-o APT::Install-Recommends=false
	)
	suite_lists_fresh || { suite_apt apt-get update && touch "$SUITE_DIR/apt/updated"; }
}

suite_lists_fresh() {
	[[ -n $(find "$SUITE_DIR/apt/updated" -mmin -1440 2>/dev/null) ]]
}

suite_mirror() {
	local mirror
	# shellcheck disable=SC2016 # apt's own variables
	mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n 's/^Debian //p' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	[[ -n $mirror ]] || { echo 'no Debian archive known to apt: run apt-get update' >&2; return 1; }
	echo "$mirror"
}

# suite_apt COMMAND ARGUMENT...: apt-get or apt-cache, for the suite in use.
suite_apt() {
	"$1" "${SUITE_OPTIONS[@]}" "${@:2}"
}

# suite_closure PACKAGE...: the packages with all that they depend on, one a line.
suite_closure() {
	suite_apt apt-get --simulate -o Debug::NoLocking=1 -q=1 install "$@" | awk '/^Inst / { print $2 }'
}

# suite_fetch PACKAGE...: download (apt checks the signatures); prints the files, one a line.
suite_fetch() {
	(cd "$SUITE_DIR/debs" && suite_apt apt-get download "$@" >&2)
	suite_apt apt-get --print-uris download "$@" | awk -v dir="$SUITE_DIR/debs" '{ print dir "/" $2 }'
}

# suite_unpack DIR FILE... [-- TAR_OPTION...]: unpack package files into DIR.
suite_unpack() {
	local dir=$1 files=() file
	shift
	while (($#)) && [[ $1 != -- ]]; do
		files+=("$1")
		shift
	done
	for file in "${files[@]}"; do
		dpkg-deb --fsys-tarfile "$file" | tar -C "$dir" -x --keep-directory-symlink "${@:2}"
	done
}
