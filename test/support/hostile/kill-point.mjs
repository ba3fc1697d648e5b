import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';

// Loaded before the program: counts its calls that change something below KILL_ROOT, and kills the process right before number KILL_AT, or,
// where KILL_HALF is set and the call writes, in the middle of it. KILL_LOG: a file (elsewhere) that gets a line for each call.
const { KILL_ROOT = '', KILL_AT = '', KILL_HALF, KILL_LOG } = process.env;
const log = KILL_LOG === undefined ? undefined : fs.openSync(KILL_LOG, 'a');
const { writeSync, readlinkSync, realpathSync } = fs;
let calls = 0;

function nameOf(target) {
  if (typeof target !== 'number') return String(target);
  try {
    return readlinkSync(`/proc/self/fd/${target}`);
  } catch {
    return '';
  }
}

/** Counts a call; `half` writes half of what it would. */
function reach(what, target, half) {
  const name = nameOf(target);
  if (!name.startsWith(KILL_ROOT)) return;
  calls += 1;
  if (log !== undefined) writeSync(log, `${what}${half === undefined ? '' : ' bytes'} ${name}\n`);
  if (String(calls) !== KILL_AT) return;
  if (KILL_HALF !== undefined) half?.();
  process.kill(process.pid, 'SIGKILL');
}

const isWriting = (flags) => (typeof flags === 'number' ? (flags & 3) !== 0 : /[wa+]/.test(String(flags ?? 'r')));
const bytesOf = (data) =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

function halfOf(fd, data, offset, length, position) {
  const bytes =
    typeof data === 'string'
      ? bytesOf(data)
      : bytesOf(data).subarray(offset ?? 0, (offset ?? 0) + (length ?? data.byteLength));
  const at = typeof position === 'number' ? position : undefined;
  if (bytes.length > 1) writeSync(fd, bytes, 0, bytes.length >> 1, at);
}

function watch(holder, name, before) {
  const original = holder[name];
  if (typeof original !== 'function') return;
  holder[name] = function watched(...parameters) {
    before.call(this, ...parameters);
    return original.apply(this, parameters);
  };
}

for (const ending of ['Sync', '']) {
  watch(fs, `open${ending}`, (path, flags) => isWriting(flags) && reach('open', path));
  watch(fs, `write${ending}`, (fd, data, ...rest) => reach('write', fd, () => halfOf(fd, data, ...rest)));
  watch(fs, `writev${ending}`, (fd, parts, position) =>
    reach('write', fd, () => halfOf(fd, Buffer.concat(parts.map(bytesOf)), 0, undefined, position)),
  );
  for (const name of [
    'fsync',
    'fdatasync',
    'ftruncate',
    'truncate',
    'unlink',
    'rm',
    'rmdir',
    'chmod',
    'mkdir',
    'mkdtemp',
  ])
    watch(fs, `${name}${ending}`, (target) => reach(name, target));
  for (const name of ['rename', 'link']) watch(fs, `${name}${ending}`, (_, to) => reach(name, to));
}
watch(fs, 'writeFileSync', (file, data) =>
  reach('write', file, () => halfOf(typeof file === 'number' ? file : fs.openSync(file, 'w'), data)),
);
watch(fs.promises, 'open', (path, flags) => isWriting(flags) && reach('open', path));

const handle = await fs.promises.open(new URL(import.meta.url));
const methods = Object.getPrototypeOf(handle);
await handle.close();
watch(methods, 'write', function write(data, ...rest) {
  reach('write', this.fd, () => halfOf(this.fd, data, ...rest));
});
for (const name of ['writeFile', 'appendFile'])
  watch(methods, name, function write(data) {
    reach('write', this.fd, () => halfOf(this.fd, data));
  });
for (const [method, name] of Object.entries({ sync: 'fsync', datasync: 'fdatasync', truncate: 'ftruncate' }))
  watch(methods, method, function change() {
    reach(name, this.fd);
  });

if (process.env['KILL_SQL'] !== undefined) {
  // The one that the program itself loads, which may be installed elsewhere.
  const Database =
    process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? createRequire(realpathSync(process.argv[1]))('libsql');
  const { prototype } = Database;
  const changes = (sql) => !/^\s*(SELECT|PRAGMA)\b/i.test(sql);
  watch(prototype, 'exec', (sql) => changes(sql) && reach(`sql ${sql.slice(0, 20)}`, KILL_ROOT));
  const { prepare } = prototype;
  prototype.prepare = function prepared(sql) {
    const statement = prepare.call(this, sql);
    if (changes(sql)) watch(statement, 'run', () => reach(`sql ${sql.slice(0, 20)}`, KILL_ROOT));
    return statement;
  };
}
syncBuiltinESMExports();
