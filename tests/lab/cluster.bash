# shellcheck shell=bash
# Throw-away PostgreSQL clusters, which run as user postgres in the lab.
#
# A cluster NAME is the server installed on this machine or, when LAB_PG_ROOT is set while it
# is created, the one in that root, which then runs as a chroot:
#     LAB_PG_ROOT=$("$LAB_HOME/pgroot" 18) lab_pg_create new
# Its files are in $LAB_DIR/NAME, below that root. It listens on LAB_PORT, 5432 when unset.

# lab_pg_bin [ROOT]: the folder with the programs of the newest server in ROOT, seen from there.
lab_pg_bin() {
	local root=${1:-} bins
	mapfile -t bins < <(cd "$root/" && printf '%s\n' usr/lib/postgresql/*/bin | sort -V)
	echo "/${bins[-1]}"
}

# lab_pg_home NAME: the folder of the cluster (socket, log, data/), seen from the host.
lab_pg_home() {
	echo "$(<"$LAB_DIR/$1.cluster")$LAB_DIR/$1"
}

# lab_pg_run NAME COMMAND...: run COMMAND as user postgres where the cluster lives: in the lab,
# in its root, with its programs first in PATH.
lab_pg_run() {
	local root uid gid environment
	root=$(<"$LAB_DIR/$1.cluster")
	shift
	uid=$(id -u postgres) gid=$(id -g postgres)
	environment=(env -i LC_ALL=C PATH="$(lab_pg_bin "$root"):/usr/bin:/bin:/usr/sbin:/sbin")
	if [[ -n $root ]]; then
		lab_in_chroot "$root" "${environment[@]}" chroot --userspec="+$uid:+$gid" "$root" "$@"
	else
		lab_in "${environment[@]}" setpriv --reuid="$uid" --regid="$gid" --init-groups "$@"
	fi
}

# A chroot has an /etc of its own: give it the lab's resolver, in a mount namespace of its own.
lab_in_chroot() {
	local root=$1
	shift
	if [[ -n ${LAB_NS:-} ]]; then
		# shellcheck disable=SC2016 # expanded by the inner shell
		lab_in bash -euc '
			for file in resolv.conf nsswitch.conf hosts; do
				mount --bind "/etc/$file" "$0/etc/$file"
			done
			exec "$@"' "$root" "$@"
	else
		"$@"
	fi
}

# What a bare root lacks before a server runs in it. Harmless when repeated.
lab_chroot_prepare() {
	local root=$1 uid gid file
	uid=$(id -u postgres) gid=$(id -g postgres)
	printf '%s\n' 'root:x:0:0::/root:/bin/sh' "postgres:x:$uid:$gid::/var/tmp:/bin/sh" >"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' "postgres:x:$gid:" >"$root/etc/group"
	for file in resolv.conf nsswitch.conf hosts; do
		[[ -e $root/etc/$file ]] || : >"$root/etc/$file"
	done
	[[ -c $root/dev/null ]] || mknod -m 666 "$root/dev/null" c 1 3
	[[ -c $root/dev/urandom ]] || mknod -m 666 "$root/dev/urandom" c 1 9
}

# lab_pg_create NAME [SETTING=VALUE...]: make a cluster; it trusts everyone (see lab_pg_hba).
lab_pg_create() {
	local name=$1 root=${LAB_PG_ROOT:-} home
	shift
	echo "$root" >"$LAB_DIR/$name.cluster"
	home=$(lab_pg_home "$name")
	[[ -z $root ]] || lab_chroot_prepare "$root"
	mkdir -p "${home%/*}"
	install -d -m 755 -o postgres -g postgres "$home"
	if ! lab_pg_run "$name" initdb -D "$LAB_DIR/$name/data" -A trust -U postgres \
		--locale=C -E UTF8 --no-sync >"$home/initdb.log" 2>&1; then
		cat "$home/initdb.log" >&2
		lab_die "initdb failed for $name"
	fi
	lab_pg_defaults "$name" >>"$home/data/postgresql.conf"
	lab_pg_hba "$name" 'host all all all trust' 'host replication all all trust'
	(($# == 0)) || lab_pg_set "$name" "$@"
}

lab_pg_defaults() {
	cat <<-CONF
	listen_addresses = '*'
	port = ${LAB_PORT:-5432}
	unix_socket_directories = '$LAB_DIR/$1'
	shared_buffers = 32MB
	fsync = off
	logging_collector = off
	log_line_prefix = '%m [%p] '
	CONF
}

# lab_pg_set NAME SETTING=VALUE...: add lines to postgresql.conf; a running server has taken
# them over on return.
lab_pg_set() {
	local name=$1
	shift
	printf '%s\n' "$@" >>"$(lab_pg_home "$name")/data/postgresql.conf"
	lab_pg_reload "$name"
}

# lab_pg_hba NAME LINE...: who may connect by TCP; the unix socket stays open to everyone.
lab_pg_hba() {
	local name=$1
	shift
	printf '%s\n' 'local all all trust' 'local replication all trust' "$@" \
		>"$(lab_pg_home "$name")/data/pg_hba.conf"
	lab_pg_reload "$name"
}

# lab_pg_reload NAME: have the server read its files again. The postmaster accepts nothing while
# it does, so once it has said so, the next connection sees the new settings.
lab_pg_reload() {
	local pid log before
	pid=$(lab_pg_pid "$1") || return 0
	log=$(lab_pg_home "$1")/log
	before=$(grep -c 'received SIGHUP' "$log" || true)
	kill -HUP "$pid"
	wait_for 10 lab_pg_reloaded "$log" "$before"
}

lab_pg_reloaded() {
	(($(grep -c 'received SIGHUP' "$1") > $2))
}

# lab_pg_pid NAME: the postmaster's PID; 1 when it does not run.
lab_pg_pid() {
	local pid
	pid=$(head -n 1 "$(lab_pg_home "$1")/data/postmaster.pid" 2>/dev/null) || return 1
	[[ -n $pid ]] && ! lab_gone "$pid" && echo "$pid"
}

# lab_pg_own_executable NAME: have the cluster run a copy of the server's executable. Probes sit on
# the file, so no other server of the host hits them, and program runs can be counted.
lab_pg_own_executable() {
	cp "$(<"$LAB_DIR/$1.cluster")$(lab_pg_bin "$(<"$LAB_DIR/$1.cluster")")/postgres" \
		"$(lab_pg_home "$1")/postgres"
}

# lab_pg_start NAME: start the cluster, wait until it answers, print the postmaster's PID.
lab_pg_start() {
	local home own=()
	home=$(lab_pg_home "$1")
	[[ ! -e $home/postgres ]] || own=(-p "$LAB_DIR/$1/postgres")
	if ! lab_pg_run "$1" pg_ctl "${own[@]}" -w -D "$LAB_DIR/$1/data" -l "$LAB_DIR/$1/log" start \
		>"$home/start.log" 2>&1 3>&-; then
		cat "$home/start.log" "$home/log" >&2
		lab_die "cluster $1 did not start"
	fi
	lab_pg_pid "$1"
}

# lab_pg_stop NAME [SIGNAL]: stop it (INT: fast, QUIT: at once) and wait for its end.
lab_pg_stop() {
	local pid
	pid=$(lab_pg_pid "$1") || return 0
	kill "-${2:-INT}" "$pid"
	wait_for 30 lab_gone "$pid"
}

# lab_pg_tls NAME: let the server speak TLS, with a certificate of its own making.
lab_pg_tls() {
	local data
	data=$(lab_pg_home "$1")/data
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-subj '/CN=lab.example' -keyout "$data/server.key" -out "$data/server.crt" 2>/dev/null
	chown postgres: "$data/server.key" "$data/server.crt"
	chmod 600 "$data/server.key"
	lab_pg_set "$1" 'ssl = on'
}

# lab_pg_user NAME USER PASSWORD: a role that may log in, its password kept as SCRAM.
lab_pg_user() {
	lab_psql "$1" -qc "SET password_encryption = 'scram-sha-256'" \
		-c "CREATE ROLE \"$2\" LOGIN PASSWORD '$3'"
}

# lab_psql NAME ARGUMENT...: psql as superuser over the unix socket, bare output.
lab_psql() {
	local home
	home=$(lab_pg_home "$1")
	shift
	"$(lab_pg_bin)/psql" -XAtq -v ON_ERROR_STOP=1 -h "$home" -p "${LAB_PORT:-5432}" -U postgres \
		-d postgres "$@"
}

# lab_client N COMMAND...: run COMMAND (psql, pgbench, ...) in the lab as client 10.42.0.N.
# Without TLS unless PGSSLMODE says so: a client that may choose connects twice when refused.
lab_client() {
	local n=$1
	shift
	lab_client_at "$(lab_server "$n")" "$@"
}

# lab_client6 N COMMAND...: the same from fd42::N.
lab_client6() {
	local n=$1
	shift
	lab_client_at "$(lab_server6 "$n")" "$@"
}

# lab_reconnect N CLIENTS COUNT: pgbench from client 10.42.0.N; each of CLIENTS connects COUNT
# times and asks one thing. Makes CLIENTS x COUNT + 1 connections: one is pgbench's own.
lab_reconnect() {
	echo 'SELECT 1;' >"$LAB_DIR/select.sql"
	lab_client "$1" pgbench -n -C -c "$2" -t "$3" -f "$LAB_DIR/select.sql" >/dev/null
}

lab_client_at() {
	local host=$1
	shift
	lab_in env PATH="$(lab_pg_bin):$PATH" PGHOST="$host" PGPORT="${LAB_PORT:-5432}" \
		PGUSER="${PGUSER:-postgres}" PGDATABASE="${PGDATABASE:-postgres}" \
		PGSSLMODE="${PGSSLMODE:-disable}" PSQLRC=/dev/null "$@"
}

# Stop and remove every cluster; nothing in them is worth a proper shutdown.
lab_pg_destroy_all() {
	local file name
	for file in "$LAB_DIR"/*.cluster; do
		[[ -e $file ]] || continue
		name=$(basename "$file" .cluster)
		lab_pg_stop "$name" QUIT || kill -KILL "$(lab_pg_pid "$name")" 2>/dev/null || true
		rm -rf --one-file-system "$(lab_pg_home "$name")"
		rmdir "$(<"$file")$LAB_DIR" 2>/dev/null || true
	done
}
