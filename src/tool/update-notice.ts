import { join } from 'node:path';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { makeFolder } from '../files/folder.ts';
import { dayMs } from '../model/duration.ts';
import { isHttpAddress, isLoopback } from '../model/http-address.ts';
import { isObject, tryParseJson } from '../model/json.ts';
import { readEnv } from '../setup/settings.ts';
import { dataDirectory } from '../setup/store.ts';
import type { Env, World } from '../world.ts';

/** What is known of newer versions; times in Unix milliseconds. */
interface NewestVersion {
  askedMs: number;
  shownMs: number;
  /** The latest version, as the registry said. */
  latest: string;
}

/**
 * Says on a terminal, once a day at most, that there is a newer version, and asks the registry that npm is set to, once a day, in a process
 * of its own. Nothing in CI, with SOTRA_UPDATE_NOTICE=0, without a configured registry, and where something goes wrong.
 */
export async function noticeUpdate(argv: readonly string[], world: World): Promise<void> {
  const { env, io, version, now } = world;
  const isOff = readEnv(env, 'CI') !== undefined || readEnv(env, 'SOTRA_UPDATE_NOTICE') === '0';
  if (isOff || !io.err.isTTY || argv.some((word) => ['--json', '--quiet', '--version', '--help'].includes(word)))
    return;
  try {
    const registry = npmRegistry(env);
    if (registry === undefined) return;
    const folder = dataDirectory(world);
    const file = join(folder, 'update.json');
    const known = read(file);
    const next = { ...known };
    if (isNewer(known.latest, version) && now() - known.shownMs >= dayMs) {
      next.shownMs = now();
      await io.err.write(
        `sotra ${known.latest} is out (this is ${version}): npm install --global sotra. SOTRA_UPDATE_NOTICE=0 stops this notice.\n`,
      );
    }
    if (now() - known.askedMs >= dayMs) next.askedMs = now();
    if (next.shownMs === known.shownMs && next.askedMs === known.askedMs) return;
    makeFolder(folder);
    replaceFile(file, JSON.stringify(next));
    if (next.askedMs !== known.askedMs) await world.spawnSelf(['--check-for-update', `${registry}/sotra/latest`, file]);
  } catch {
    // A notice is worth no failure.
  }
}

/** Asks a registry for the latest version and keeps it. */
export async function askRegistry(url = '', file = ''): Promise<void> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000), headers: { accept: 'application/json' } });
    const latest = answer.ok ? ((await answer.json()) as { version?: unknown }).version : undefined;
    if (typeof latest === 'string' && versionForm.test(latest))
      replaceFile(file, JSON.stringify({ ...read(file), latest }));
  } catch {
    // It is asked again tomorrow.
  }
}

function read(file: string): NewestVersion {
  const none: NewestVersion = { askedMs: 0, shownMs: 0, latest: '' };
  try {
    const kept = tryParseJson(readStateFile(file));
    return isObject(kept) ? { ...none, ...kept } : none;
  } catch {
    return none;
  }
}

const versionForm = /^\d{1,6}\.\d{1,6}\.\d{1,6}$/;

function isNewer(latest: string, version: string): boolean {
  if (!versionForm.test(latest)) return false;
  const [own, other] = [version, latest].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  const at = [0, 1, 2].find((index) => own?.[index] !== other?.[index]);
  return at !== undefined && Number(other?.[at]) > Number(own?.[at]);
}

/** The registry that the user's npm is set to: variable over `.npmrc`; the file of a project may be of others. `undefined` where none is set. */
function npmRegistry(env: Env): string | undefined {
  const named = readEnv(env, 'npm_config_registry') ?? readEnv(env, 'NPM_CONFIG_REGISTRY') ?? fromNpmrc(env);
  if (named === undefined || !isHttpAddress(named)) return undefined;
  const { protocol, hostname, href, username } = new URL(named);
  const isSafe = (protocol === 'https:' || isLoopback(hostname)) && username === '';
  return isSafe ? href.slice(0, href.endsWith('/') ? -1 : undefined) : undefined;
}

function fromNpmrc(env: Env): string | undefined {
  const home = readEnv(env, 'HOME') ?? readEnv(env, 'USERPROFILE');
  const file =
    readEnv(env, 'npm_config_userconfig') ?? readEnv(env, 'NPM_CONFIG_USERCONFIG') ?? (home && join(home, '.npmrc'));
  try {
    const lines = readStateFile(file ?? '').split('\n');
    const [, value] = lines.map((line) => line.split('=')).find(([name]) => name?.trim() === 'registry') ?? [];
    return value?.replaceAll('"', '').trim();
  } catch {
    return undefined;
  }
}
