import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run as runHere } from '../harness.ts';
import { start } from '../processes.ts';

/** One command in a folder of its own, and what must hold there. */
interface Scene {
  argv: readonly string[];
  env?: Record<string, string>;
  /** What the command's surroundings do while it runs; it ends the command where that does not end by itself. */
  meanwhile?: (run: ReturnType<typeof start>) => Promise<void>;
  /** Throws where something is lost or damaged right after a kill. */
  whole?: () => void;
  /** Throws where something is missing after the same command was run to its end; gets all that was printed, and what the last run said. */
  complete?: (printed: string, err: string) => void;
}

export interface KillCase {
  name: string;
  /** Makes what is there before the command, once; its folder is copied for each run. */
  before?: (act: (...argv: string[]) => Promise<void>, folder: string) => void | Promise<void>;
  scene: (folder: string) => Scene | Promise<Scene>;
  /** Exit codes of the same command after a kill; 0 when absent. */
  again?: readonly number[];
  /** Statements of the database are points too. */
  sql?: true;
}

export interface KillPoints {
  name: string;
  /** Calls of the command that change a file, or statements that change the database. */
  points: number;
  kills: number;
  failures: string[];
}

interface Run {
  code: number | null;
  out: string;
  err: string;
}

interface Kill {
  at: number;
  half: boolean;
}

const preload = resolve('test/support/hostile/kill-point.mjs');

/**
 * Kills a command right before each of its calls that change a file, and in the middle of each of its writes; then looks whether all
 * is whole, runs the same command to its end, and looks whether all is there and nothing is left over. `most`: only about
 * so many of the calls. `twice`: the kills fall in the command that follows one which was killed with the lock in its hands.
 */
export async function killEverywhere(
  one: KillCase,
  { most = Number.POSITIVE_INFINITY, twice = false }: { most?: number; twice?: boolean } = {},
): Promise<KillPoints> {
  const report: KillPoints = { name: one.name, points: 0, kills: 0, failures: [] };
  const template = mkdtempSync(join(tmpdir(), 'sotra-kill-template-'));
  try {
    mkdirSync(join(template, 'state'));
    await one.before?.((...argv) => does(argv, template), template);
    const plan = await inCopy(template, async (folder) => {
      const scene = await one.scene(folder);
      const log = join(folder, 'log');
      const ended = await runScene(one, scene, folder, { KILL_LOG: log });
      if (!(one.again ?? [0]).includes(ended.code ?? -1)) throw new Error(`${one.name} does not work: ${ended.err}`);
      scene.complete?.(ended.out, ended.err);
      return { calls: linesOf(log), names: namesIn(folder) };
    });
    const holding = plan.calls.findIndex((call) => /^open .*lock$/.test(call)) + 2;
    const calls = twice ? await callsAfter(one, template, { at: holding, half: false }) : plan.calls;
    report.points = calls.length;
    const tried = withoutLogBetween(calls);
    const step = Math.max(1, Math.floor(tried.length / most));
    for (let index = Math.ceil(step / 2) - 1; index < tried.length; index += step)
      for (const half of [false, true]) {
        const { at = 0, call = '' } = tried[index] ?? {};
        if (half && !call.includes(' bytes ')) continue;
        await inCopy(template, async (folder) => {
          const scene = await one.scene(folder);
          if (twice) await killAt(one, scene, folder, { at: holding, half: false });
          const killed = await killAt(one, scene, folder, { at, half });
          const where = `${half ? 'in' : 'before'} call ${at}, ${call.replaceAll(folder, '')}`;
          if (killed.code !== null) return;
          report.kills += 1;
          try {
            scene.whole?.();
            makeOld(folder);
            const last = await runAgain(one, scene, folder);
            if (!(one.again ?? [0]).includes(last.code ?? -1)) throw new Error(`then exit ${last.code}: ${last.err}`);
            scene.complete?.(killed.out + last.out, last.err);
            // A command that finds nothing left to do writes nothing, and so removes nothing.
            if (last.code !== 0) return;
            const litter = [...namesIn(folder)].filter((name) => !plan.names.has(name));
            if (litter.length > 0) throw new Error(`left over: ${litter.join(', ')}`);
          } catch (error) {
            report.failures.push(`${where}: ${error instanceof Error ? error.message : error}`);
          }
        });
      }
    return report;
  } finally {
    rmSync(template, { recursive: true, force: true });
  }
}

/**
 * The calls to be killed at, numbered from 1: all but those that keep a request in the log of calls, of which only
 * the first and the last are tried.
 */
function withoutLogBetween(calls: readonly string[]): { at: number; call: string }[] {
  const numbered = calls.map((call, index) => ({ at: index + 1, call }));
  const kindOf = (call: string) => call.slice(0, call.indexOf('/'));
  const isLog = ({ call }: { call: string }) => /[/]history[/]/.test(call);
  const likeIt = (one: { call: string }) =>
    numbered.filter((each) => isLog(each) && kindOf(each.call) === kindOf(one.call));
  return numbered.filter((one) => !isLog(one) || [likeIt(one)[0], likeIt(one).at(-1)].includes(one));
}

/** The calls of a command that follows one which was killed. */
function callsAfter(one: KillCase, template: string, first: Kill): Promise<string[]> {
  return inCopy(template, async (folder) => {
    const scene = await one.scene(folder);
    await killAt(one, scene, folder, first);
    const log = join(folder, 'log');
    await runScene(one, scene, folder, { KILL_LOG: log });
    return linesOf(log);
  });
}

function killAt(one: KillCase, scene: Scene, folder: string, { at, half }: Kill): Promise<Run> {
  return runScene(one, scene, folder, { KILL_AT: String(at), ...(half ? { KILL_HALF: '1' } : {}) });
}

async function runScene(
  { sql }: KillCase,
  scene: Scene,
  folder: string,
  more: Record<string, string> = {},
): Promise<Run> {
  const run = start(scene.argv, {
    ...placeOf(folder),
    ...scene.env,
    NODE_OPTIONS: `--import ${preload}`,
    KILL_ROOT: join(folder, 'state'),
    ...(sql ? { KILL_SQL: '1' } : {}),
    ...more,
  });
  await scene.meanwhile?.(run);
  return { code: await run.ended, ...run.printed };
}

async function inCopy<T>(template: string, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-kill-'));
  try {
    cpSync(template, folder, { recursive: true });
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function placeOf(folder: string): Record<string, string> {
  return { SOTRA_CONFIG_DIR: join(folder, 'state'), SOTRA_DATA_DIR: join(folder, 'state') };
}

async function does(argv: string[], folder: string): Promise<void> {
  const { code, err } = await runHere(argv, { env: placeOf(folder) });
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${err}`);
}

/** The same command to its end: in this process, unless the scene acts on a running one. */
function runAgain(one: KillCase, scene: Scene, folder: string): Promise<Run> {
  if (scene.meanwhile !== undefined) return runScene(one, scene, folder);
  return runHere(scene.argv, { env: { ...placeOf(folder), ...scene.env } });
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** The kinds of files in the state's folder: times, numbers, random parts of names and whether a kept call failed do not count. */
function namesIn(folder: string): Set<string> {
  const names = readdirSync(join(folder, 'state'), { recursive: true, encoding: 'utf8' });
  // What lies beside a database comes and goes with its use; a guard is looked at again by the next who needs it.
  const kept = names.filter((name) => !/-(wal|shm)$|\.takeover$/.test(name));
  return new Set(
    kept.map((name) =>
      name
        .replace(/Z-\d+\./, 'Z.')
        .replace('.failed.json', '.json')
        .replaceAll(/[0-9a-f]{8,}|\d+/g, '#'),
    ),
  );
}

/** Later is when everything of now is old. */
function makeOld(folder: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const name of readdirSync(join(folder, 'state'), { recursive: true, encoding: 'utf8' }))
    if (/tmp/.test(name)) utimesSync(join(folder, 'state', name), hourAgo, hourAgo);
}
