/* A plugin of Mosquitto 2.0 and 2.1: checks the displays' logins and refuses everything that no display needs.
 *
 * Mosquitto reads its own password file only at SIGHUP. Then it ends every session of a removed login, even one that
 * has ended before: that session is twice in the list of expiring sessions, and the broker crashes at its expiry
 * (mosquitto_security_apply_default in 2.0.11 to 2.0.21). So this plugin holds the displays' logins. It reads the file
 * again after a change, and needs no SIGHUP. When a login is removed or has another password, the plugin ends its
 * connection, but never a session without a connection.
 *
 * plugin_opt_logins      the file, a line NAME:$7$ROUNDS$SALT$HASH for each display, in the format of mosquitto_passwd
 * plugin_opt_services    names that are no displays: the broker's own files decide about them
 * plugin_opt_topic_roots a display's topics are ROOT/NAME/...; several roots when several stacks share the broker
 * plugin_opt_downward    topics below ROOT/NAME/ that a display may subscribe to
 * plugin_opt_retained    topics below ROOT/NAME/ that a display may retain
 * plugin_opt_running     a file that exists from the first turn of the broker's loop to its clean end
 *
 * Mosquitto 2.0 has no limits for strangers: it keeps 256 KB of a CONNECT for a minute and a half before it knows who
 * sends it. So broker_launch.py loads this library before all others, and its accept(), read(), SSL_read() and
 * BUF_MEM_grow_clean() stand before the others'. They end a connection whose CONNECT is too large, too slow, or overtaken
 * by too many others.
 *
 * Commas separate lists. Everything runs in the broker's single thread. After an error the old logins stay in use.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* From mosquitto.h, mosquitto_plugin.h and mosquitto_broker.h; the same in 2.0.0 to 2.0.22 and in 2.1.2. */
struct mosquitto;
struct mosquitto_opt { char *key; char *value; };
struct acl_check {
	void *future;
	struct mosquitto *client;
	const char *topic;
	const void *payload;
	void *properties;
	int access;
	uint32_t payloadlen;
	uint8_t qos;
	bool retain;
	void *future2[4];
};
struct message {
	void *future;
	struct mosquitto *client;
	char *topic;
	void *payload;
	void *properties;
	char *reason;
	uint32_t payloadlen;
	uint8_t qos;
	uint8_t reason_code;
	bool retain;
	void *future2[4];
};
struct basic_auth {
	void *future;
	struct mosquitto *client;
	char *username;
	char *password;
	void *future2[4];
};
enum { VERSION = 5, ON_ACL_CHECK = 2, ON_BASIC_AUTH = 3, ON_MESSAGE = 7, ON_TICK = 9 };
enum { SUCCESS = 0, INVALID = 3, AUTH = 11, ACL_DENIED = 12, DEFER = 17 };
enum { MAY_WRITE = 2, MAY_SUBSCRIBE = 4 };
enum { LOG_NOTICE = 2, LOG_WARNING = 4 };
int mosquitto_callback_register(void *plugin, int event, int (*call)(int, void *, void *), const void *data, void *user);
int mosquitto_kick_client_by_username(const char *name, bool with_will);
const char *mosquitto_client_id(const struct mosquitto *client);
const char *mosquitto_client_username(const struct mosquitto *client);
void mosquitto_property_free_all(void **properties);
void mosquitto_log_printf(int level, const char *format, ...);

/* From OpenSSL, which the broker has loaded. */
int PKCS5_PBKDF2_HMAC(const char *password, int length, const unsigned char *salt, int salt_length, int rounds,
		const void *digest, int key_length, unsigned char *key);
const void *EVP_sha512(void);
int EVP_DecodeBlock(unsigned char *to, const unsigned char *from, int length);
int CRYPTO_memcmp(const void *one, const void *other, size_t length);
int SSL_get_fd(const void *ssl);

struct login { const char *name, *hash; int64_t spent, spent_ns; };
struct logins { char *text; struct login *all; size_t count; };

#define LOOK_NS 100000000LL  /* between two checks of the file */
#define LOOKS_REST 20        /* the pause is so many times the check: checks take at most a twentieth of the time */
#define KICKS_NS 20000000LL  /* for ending connections, in one turn of the loop */
#define NS_A_BYTE 500LL          /* a display may send 2 MB a second */
#define BYTES_AT_ONCE 16000000LL /* and so much at once: a spool of many hours */
#define BYTES_BESIDE 1000000LL   /* and this on top, but no logs: endless logs must not stop heartbeats */
#define MESSAGE_COSTS 512        /* what the broker keeps of a message beside its topic and payload */
#define MOST_FILES 65536         /* broker_launch.OPEN_FILES */
#define CONNECT_MOST 1024        /* bytes; a display's has 300 */
#define CONNECT_NS 10000000000LL /* from the connection to its whole CONNECT */
#define HELLO_MOST 20000         /* bytes of a message of TLS; OpenSSL alone takes 131,396 */
#define MOST_STRANGERS 1024      /* at once: the oldest goes first. Each takes up to 2 KB, with TLS 44 KB */
#define ACCEPTED_MOST 256        /* in one turn of the loop, so that the broker reads what the others have sent */
#define ARRIVALS 16384           /* that are remembered */
#define LARGEST_FILE (256L << 20)
#define MOST_ROUNDS 10000000L
#define BASE64_MOST 88       /* length of 64 bytes in base64 */

/* The beginning of what came from a stranger, outside or inside of TLS. */
struct beginning { uint8_t length; bool has_long_size; };
struct stranger { int64_t since_ns; struct beginning outside, inside; };
struct arrival { int64_t at_ns; int fd; };

static struct stranger strangers[MOST_FILES];  /* by file; since_ns is 0 for all but connections without a CONNECT */
static struct arrival arrivals[ARRIVALS];  /* a ring of connections, among them all strangers */
static size_t oldest, arrived, waiting, accepted;  /* of the ring; strangers; connections in this turn of the loop */
static int speaking = -1;          /* the file that was read last: the broker then handles its packet */
static bool is_unguarded;

static const char *file, *services, *roots, *downward, *retained, *running;
static struct logins now;          /* in order of names */
static struct login *leaving;      /* logins whose connections must still be ended */
static size_t leaving_count;
static char *leaving_text;         /* the text that holds their names */
static struct stat seen;           /* the file that `now` was read from */
static bool is_unreadable, has_turned, frees_nothing;
static int64_t next_look_ns;

static int64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void forget(int fd)
{
	if(strangers[fd].since_ns) waiting--;
	strangers[fd].since_ns = 0;
}

static bool is_stranger(const struct arrival *one)
{
	return strangers[one->fd].since_ns == one->at_ns;
}

static void dismiss_oldest(void)
{
	struct arrival *one = &arrivals[oldest];
	if(is_stranger(one)){
		forget(one->fd);
		shutdown(one->fd, SHUT_RDWR);  /* the broker sees an end, and closes it */
	}
	oldest = (oldest + 1) % ARRIVALS;
	arrived--;
}

static void dismiss(int64_t at_ns)
{
	accepted = 0;
	while(arrived){
		const struct arrival *one = &arrivals[oldest];
		if(is_stranger(one) && at_ns - one->at_ns <= CONNECT_NS && waiting <= MOST_STRANGERS) return;
		dismiss_oldest();
	}
}

int accept(int listener, __SOCKADDR_ARG address, socklen_t *restrict size)
{
	if(accepted >= ACCEPTED_MOST){
		errno = EAGAIN;
		return -1;
	}
	int fd = accept4(listener, address, size, 0);
	if(fd < 0 || fd >= MOST_FILES) return fd;
	forget(fd);  /* one that has left */
	if(arrived == ARRIVALS) dismiss_oldest();
	struct arrival *new = &arrivals[(oldest + arrived++) % ARRIVALS];
	*new = (struct arrival){.at_ns = clock_ns(), .fd = fd};
	strangers[fd] = (struct stranger){.since_ns = new->at_ns};
	waiting++, accepted++;
	return fd;
}

/* Whether the packet that begins a connection announces fewer than CONNECT_MOST bytes: in two digits to the base 128,
 * the lower one first. */
static bool is_small(struct beginning *of, const uint8_t *came, size_t count)
{
	for(size_t i = 0; i < count && of->length < 3; i++, of->length++){
		if(of->length == 1) of->has_long_size = came[i] >= 128;
		if(of->length == 2 && of->has_long_size && came[i] >= CONNECT_MOST / 128) return false;
	}
	return true;
}

/* Notes who speaks. Returns `count`, or an error in place of what came from a stranger and is too large. */
static ssize_t heard(int fd, bool is_inside, const void *came, ssize_t count)
{
	if(fd < 0 || fd >= MOST_FILES) return count;
	struct stranger *one = &strangers[speaking = fd];
	if(count <= 0 || !one->since_ns || is_small(is_inside ? &one->inside : &one->outside, came, (size_t)count)) return count;
	errno = ECONNRESET;
	return -1;
}

ssize_t read(int fd, void *to, size_t size)
{
	return heard(fd, false, to, readv(fd, &(struct iovec){to, size}, 1));
}

int SSL_read(void *ssl, void *to, int size)
{
	static int (*original)(void *, void *, int);
	if(!original) original = (int (*)(void *, void *, int))dlsym(RTLD_NEXT, "SSL_read");
	int count = original(ssl, to, size);
	return (int)heard(SSL_get_fd(ssl), true, to, count);
}

/* With it OpenSSL makes room for a whole message of TLS as soon as its first bytes announce its size. */
size_t BUF_MEM_grow_clean(void *buffer, size_t size)
{
	static size_t (*original)(void *, size_t);
	if(size > HELLO_MOST && speaking >= 0 && strangers[speaking].since_ns) return 0;
	if(!original) original = (size_t (*)(void *, size_t))dlsym(RTLD_NEXT, "BUF_MEM_grow_clean");
	return original(buffer, size);
}

static bool is_listed_part(const char *list, const char *word, size_t length)
{
	for(const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if(strcspn(at, ",") == length && !strncmp(at, word, length)) return true;
	return false;
}

static bool is_listed(const char *list, const char *word)
{
	return is_listed_part(list, word, strlen(word));
}

static int by_name(const void *one, const void *other)
{
	return strcmp(((const struct login *)one)->name, ((const struct login *)other)->name);
}

static struct login *login_of(const char *name)
{
	struct login wanted = {.name = name};
	return now.count ? bsearch(&wanted, now.all, now.count, sizeof wanted, by_name) : NULL;
}

/* Parses the lines of `text` into logins, sorted by name. Skips lines that are no logins. */
static bool parse(char *text, struct logins *found)
{
	size_t lines = 1;
	for(const char *at = text; (at = strchr(at, '\n')); at++) lines++;
	found->text = text;
	found->count = 0;
	found->all = malloc(lines * sizeof *found->all);
	if(!found->all) return false;
	for(char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)){
		char *colon = strchr(line, ':');
		if(!colon || colon == line) continue;
		*colon = '\0';
		found->all[found->count++] = (struct login){.name = line, .hash = colon + 1};
	}
	qsort(found->all, found->count, sizeof *found->all, by_name);
	return true;
}

/* The content of the file, to be freed by the caller; NULL when it cannot be read. */
static char *read_text(struct stat *of)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	size_t length = 0;
	if(fd < 0) return NULL;
	if(!fstat(fd, of) && S_ISREG(of->st_mode) && of->st_size <= LARGEST_FILE) text = malloc((size_t)of->st_size + 1);
	while(text && length < (size_t)of->st_size){
		/* pread(): our own read() would take the file for a stranger that had its descriptor before. */
		ssize_t came = pread(fd, text + length, (size_t)of->st_size - length, (off_t)length);
		if(came <= 0){
			free(text);
			text = NULL;
		}else length += (size_t)came;
	}
	close(fd);
	if(text) text[length] = '\0';
	return text;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev && one->st_size == other->st_size
		&& !memcmp(&one->st_mtim, &other->st_mtim, sizeof one->st_mtim)
		&& !memcmp(&one->st_ctim, &other->st_ctim, sizeof one->st_ctim);
}

/* Keeps the old logins that were removed or have another password: their connections must be ended. A display keeps its
 * spent bytes, also with another password. */
static void take_leave(struct logins *before)
{
	size_t gone = 0;
	for(size_t i = 0; i < before->count; i++){
		struct login *still = login_of(before->all[i].name);
		if(still) still->spent = before->all[i].spent, still->spent_ns = before->all[i].spent_ns;
		if(!still || strcmp(still->hash, before->all[i].hash)) before->all[gone++] = before->all[i];
	}
	leaving = before->all;
	leaving_count = gone;
	leaving_text = before->text;
}

static void look(void)
{
	struct stat there;
	struct logins found = {0};
	if(!stat(file, &there) && is_same(&there, &seen)) return;
	char *text = read_text(&there);
	if(!text || !parse(text, &found)){
		free(text);
		if(!is_unreadable) mosquitto_log_printf(LOG_WARNING, "door: %s cannot be read; its logins stay as they were", file);
		is_unreadable = true;
		return;
	}
	struct logins before = now;
	now = found;
	seen = there;
	is_unreadable = false;
	take_leave(&before);
	mosquitto_log_printf(LOG_NOTICE, "door: %zu displays, %zu to leave", now.count, leaving_count);
}

/* Ends the connection as if the network were cut, with the will: then the session stays correct in every case. */
static void end_connections(void)
{
	int64_t until = clock_ns() + KICKS_NS;
	while(leaving_count && clock_ns() < until) mosquitto_kick_client_by_username(leaving[--leaving_count].name, true);
	if(leaving_count) return;
	free(leaving);
	free(leaving_text);
	leaving = NULL;
	leaving_text = NULL;
}

static void first_turn(void)
{
	signal(SIGHUP, SIG_IGN);  /* see above: a SIGHUP can crash the broker */
	if(running){
		int fd = open(running, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if(fd >= 0) close(fd);
	}
	has_turned = true;
}

static int on_tick(int event, void *data, void *user)
{
	(void)event, (void)data, (void)user;
	int64_t began = clock_ns();
	if(!has_turned) first_turn();
	dismiss(began);
	if(!leaving && began >= next_look_ns){
		look();
		int64_t took = clock_ns() - began;
		next_look_ns = began + took + (took * LOOKS_REST > LOOK_NS ? took * LOOKS_REST : LOOK_NS);
	}
	if(leaving) end_connections();
	return SUCCESS;
}

static int decoded(const char *text, size_t length, unsigned char *to)
{
	if(length < 4 || length % 4 || length > BASE64_MOST) return 0;
	int bytes = EVP_DecodeBlock(to, (const unsigned char *)text, (int)length);
	return bytes - (text[length - 1] == '=') - (text[length - 2] == '=');
}

static bool is_of(const char *hash, const char *password)
{
	unsigned char salt[BASE64_MOST], wanted[BASE64_MOST], made[64];
	char *salt_at;
	if(strncmp(hash, "$7$", 3)) return false;
	long rounds = strtol(hash + 3, &salt_at, 10);
	if(*salt_at != '$' || rounds < 1 || rounds > MOST_ROUNDS) return false;
	const char *end = strchr(++salt_at, '$');
	if(!end) return false;
	int salt_length = decoded(salt_at, (size_t)(end - salt_at), salt);
	if(salt_length < 1 || decoded(end + 1, strlen(end + 1), wanted) != sizeof made) return false;
	return PKCS5_PBKDF2_HMAC(password, (int)strlen(password), salt, salt_length, (int)rounds, EVP_sha512(), sizeof made, made)
		&& !CRYPTO_memcmp(made, wanted, sizeof made);
}

/* Whether a display may send so many more bytes. Messages wait in the broker's memory for the bridge: without this
 * limit one login filled 1.8 GB in eight seconds. */
static bool may_spend(struct login *login, size_t bytes, bool is_log)
{
	int64_t costs = (int64_t)bytes + MESSAGE_COSTS;
	int64_t at = clock_ns(), earned = (at - login->spent_ns) / NS_A_BYTE;
	if(earned > 0){
		login->spent = login->spent > earned ? login->spent - earned : 0;
		login->spent_ns = at;
	}
	if(login->spent + costs > BYTES_AT_ONCE + (is_log ? 0 : BYTES_BESIDE)) return false;
	login->spent += costs;
	return true;
}

/* A whole CONNECT came: the broker lets its sender in, or closes the connection. */
static void welcome(void)
{
	if(speaking >= 0) forget(speaking);
	else if(!is_unguarded) mosquitto_log_printf(LOG_WARNING, "door: strangers are not limited: see broker_launch.py");
	is_unguarded = speaking < 0;
}

/* A display's client id must be its name, on every listener, so that it cannot take over another session. */
static int on_basic_auth(int event, void *data, void *user)
{
	(void)event, (void)user;
	struct basic_auth *ask = data;
	welcome();
	const char *id = mosquitto_client_id(ask->client);
	if(!ask->username || is_listed(services, ask->username)) return DEFER;
	if(!ask->password || !id || strcmp(id, ask->username)) return AUTH;
	struct login *login = login_of(ask->username);
	if(!login || !is_of(login->hash, ask->password)) return AUTH;
	return may_spend(login, CONNECT_MOST, false) ? SUCCESS : AUTH;  /* its will may wait for the bridge, like a message */
}

/* The part of `topic` after ROOT/NAME/; NULL when `topic` does not begin so. */
static const char *below_own(const char *topic, const char *name)
{
	size_t name_length = strlen(name), root_length = strcspn(topic, "/");
	const char *own = topic + root_length + 1;
	if(topic[root_length] != '/' || !is_listed_part(roots, topic, root_length)) return NULL;
	return !strncmp(own, name, name_length) && own[name_length] == '/' ? own + name_length + 1 : NULL;
}

static int on_acl_check(int event, void *data, void *user)
{
	(void)event, (void)user;
	struct acl_check *ask = data;
	const char *name = mosquitto_client_username(ask->client);
	if(!name || (ask->access != MAY_SUBSCRIBE && ask->access != MAY_WRITE) || is_listed(services, name)) return DEFER;
	const char *own = below_own(ask->topic, name);
	if(ask->access == MAY_SUBSCRIBE) return own && is_listed(downward, own) ? SUCCESS : ACL_DENIED;
	struct login *login = login_of(name);
	if(ask->qos > 1 || !own || !login) return ACL_DENIED;
	if(ask->retain && !is_listed(retained, own)) return ACL_DENIED;
	size_t bytes = strlen(ask->topic) + ask->payloadlen;
	return may_spend(login, bytes, !strncmp(own, "logs/", 5)) ? DEFER : ACL_DENIED;
}

/* Removes the properties of displays' messages. Nobody reads them, and max_queued_bytes does not count them: 1 GB of
 * them waited within seconds. */
static int on_message(int event, void *data, void *user)
{
	(void)event, (void)user;
	struct message *came = data;
	const char *name = mosquitto_client_username(came->client);
	if(!name || is_listed(services, name)) return SUCCESS;
	if(frees_nothing) mosquitto_property_free_all(&came->properties);
	came->properties = NULL;
	return SUCCESS;
}

/* From 2.0.15 on Mosquitto frees what a plugin takes off a message: twice would end it. broker_launch.py knows the
 * version; without it what older ones leave behind is lost. */
static bool is_before_2_0_15(const char *version)
{
	return version && !strncmp(version, "2.0.", 4) && atoi(version + 4) < 15;
}

int mosquitto_plugin_version(int count, const int *supported)
{
	for(int i = 0; i < count; i++) if(supported[i] == VERSION) return VERSION;
	return -1;
}

int mosquitto_plugin_init(void *plugin, void **user, struct mosquitto_opt *options, int count)
{
	const struct { const char *key, **value; } known[] = {{"logins", &file}, {"services", &services},
		{"topic_roots", &roots}, {"downward", &downward}, {"retained", &retained}, {"running", &running}};
	(void)user;
	for(int i = 0; i < count; i++)
		for(size_t k = 0; k < sizeof known / sizeof *known; k++)
			if(!strcmp(options[i].key, known[k].key)) *known[k].value = strdup(options[i].value);
	if(!file || !services || !roots || !downward || !retained) return INVALID;
	frees_nothing = is_before_2_0_15(getenv("MOSQUITTO_VERSION"));
	look();
	int failed = mosquitto_callback_register(plugin, ON_BASIC_AUTH, on_basic_auth, NULL, NULL);
	if(!failed) failed = mosquitto_callback_register(plugin, ON_ACL_CHECK, on_acl_check, NULL, NULL);
	if(!failed) failed = mosquitto_callback_register(plugin, ON_MESSAGE, on_message, NULL, NULL);
	return failed ? failed : mosquitto_callback_register(plugin, ON_TICK, on_tick, NULL, NULL);
}

int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *options, int count)
{
	(void)user, (void)options, (void)count;
	if(running && has_turned) unlink(running);
	return SUCCESS;
}
