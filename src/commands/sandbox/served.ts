import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../api/http-address.ts';
import { isObject, parseJson, tryParseJson } from '../../api/json.ts';
import { createNetwork } from '../../client/network.ts';
import { command } from '../../client/shell.ts';
import { usualLimits } from '../../client/transport.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { dataDirectory } from '../../lib/config/config.ts';
import { readStateFile } from '../../lib/files/durable-file.ts';
import type { Result } from '../../lib/output/view.ts';
import { fitsRequest, globPattern } from '../../sandbox/serve/fault.ts';
import { type LoggedRequest, maxLogged } from '../../sandbox/serve/request-log.ts';
import { controlHeader } from '../../sandbox/service/handler.ts';
import type { LogInput } from './params.ts';

export interface Ready {
  url: string;
  pid: number;
  db: string;
  keys: string[];
  controlToken: string;
  /** The address of its page, with the token. */
  ui?: string;
}

/** A sandbox that answered to its control token just now, and its ready file. */
interface ServedSandbox extends Ready {
  file: string;
}

/** The folder with the ready file of each served sandbox, named after its port. */
export function servedFolder({ io }: Context): string {
  return join(dataDirectory(io), 'served');
}

/**
 * The sandbox of a ready file, the one at the base URL, or the only one that runs. It must answer to the control token of its file with its
 * process id. Errors: `not-found` when none does; `usage` for several; `local-file` for a ready file that does not exist.
 */
export async function findServed(context: Context, readyFile?: string, baseUrl?: string): Promise<ServedSandbox> {
  if (readyFile !== undefined && !existsSync(readyFile))
    throw new SotraError('local-file', `--ready-file ${readyFile}: no such file`, { hint: 'Check its path.' });
  const folder = servedFolder(context);
  const known = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const files = readyFile === undefined ? known : [readyFile];
  const ready = files.flatMap((file) => readReady(file) ?? []);
  const wanted = baseUrl ?? (await readBaseUrl(context)).url;
  const candidates =
    wanted === undefined || readyFile !== undefined ? ready : ready.filter(({ url }) => isSame(url, wanted));
  const answered = await Promise.all(candidates.map(async (each) => ((await answers(context, each)) ? [each] : [])));
  const [found, ...others] = answered.flat();
  if (found === undefined) {
    const where = readyFile === undefined ? wanted : `the address in ${readyFile}`;
    throw new SotraError('not-found', `no sandbox is served${where === undefined ? '' : ` at ${where}`}`, {
      hint: 'Start one with sotra sandbox start --detach. For one with another SOTRA_DATA_DIR, use --ready-file.',
    });
  }
  if (others.length > 0)
    throw usageError(
      `several sandboxes are served: ${[found, ...others].map(({ url }) => url).join(', ')}`,
      command`Name one: --base-url ${found.url}`,
    );
  return found;
}

/** Calls the control API of a served sandbox. Errors: those of the transport; `bad-request` with its refusal; `bad-answer` if something else answers. */
export async function askServed(
  { io, options }: Context,
  { url, controlToken }: Pick<Ready, 'url' | 'controlToken'>,
  method: 'GET' | 'POST',
  path: string,
): Promise<unknown> {
  const transport = await createNetwork({ ...io, env: {} });
  const { timeoutMs } = options;
  try {
    const { status, text } = await transport.send(
      {
        method,
        url: new URL(`/_sandbox/${path}`, url),
        headers: { [controlHeader]: controlToken },
      },
      { timeoutMs, totalMs: timeoutMs, maxBytes: usualLimits.maxBodyBytes, signal: io.signal },
    );
    const answer = tryParseJson(text);
    if (answer === undefined)
      throw new SotraError('bad-answer', `${url}/_sandbox/${path} answered ${status}: ${text.slice(0, 200)}`);
    if (status === 200) return answer;
    throw new SotraError('bad-request', isObject(answer) ? String(answer['error']) : text);
  } finally {
    if (io.transport === undefined) await transport.close();
  }
}

async function answers(context: Context, ready: Ready): Promise<boolean> {
  try {
    return ((await askServed(context, ready, 'GET', 'status')) as { pid?: unknown }).pid === ready.pid;
  } catch {
    return false;
  }
}

/** The base URL that `--base-url` or `--context` names, else SOTRA_BASE_URL if it is a loopback address. */
export async function readBaseUrl({ options, config, io }: Context): Promise<{ url?: string; isTyped: boolean }> {
  if (options.sandbox) return { isTyped: false };
  const service = options.context === undefined ? undefined : await config.service();
  const typed = service === undefined ? options.baseUrl : service.baseUrl;
  if (typed !== undefined && service?.kind !== 'sandbox') return { url: typed, isTyped: true };
  const url = io.env['SOTRA_BASE_URL'] ?? '';
  return URL.canParse(url) && isLoopback(new URL(url).hostname) ? { url, isTyped: false } : { isTyped: false };
}

function readReady(file: string): ServedSandbox | undefined {
  try {
    const ready = parseJson(readStateFile(file)) as Ready;
    return URL.canParse(ready.url) ? { ...ready, file } : undefined;
  } catch {
    return undefined;
  }
}

function isSame(url: string, wanted: string): boolean {
  if (!URL.canParse(wanted)) return false;
  const { port, hostname } = new URL(wanted);
  return port === new URL(url).port && isLoopback(hostname);
}

const defaultLogged = 50;

export async function showLog(
  { expect, limit = expect === undefined ? defaultLogged : maxLogged, readyFile }: LogInput,
  context: Context,
): Promise<Result> {
  const expected = expect?.map(readExpected) ?? [];
  const served = await findServed(context, readyFile);
  const path = `log?limit=${limit}`;
  if (context.options.dryRun)
    return { kind: 'request', request: { method: 'GET', url: new URL(`/_sandbox/${path}`, served.url), headers: {} } };
  const answer = (await askServed(context, served, 'GET', path)) as LoggedRequest[];
  for (const each of expected) checkExpected(each, answer);
  return { kind: 'answer', answer };
}

/** A request as `--expect` names it, and how often it should be there. Errors: `usage`. */
function readExpected(text: string) {
  const [, method, glob, count] = /^([A-Z]+|\*) ((?:\/|\*)[^\s?=]*)(?:=(\d{1,4}))?$/.exec(text) ?? [];
  if (method === undefined || glob === undefined)
    throw usageError(
      `--expect ${text}: must be '<METHOD path>' or '<METHOD path>=<n>', such as 'POST /v1/**' or 'GET /v2/leaderboard=2'`,
      text.includes('?') ? 'Omit the query: requests are named by their path.' : undefined,
    );
  return { text, method, path: globPattern(glob), count: count === undefined ? undefined : Number(count) };
}

/** Errors: `verification` if the requests were not made. */
function checkExpected(
  { text, count, ...named }: ReturnType<typeof readExpected>,
  requests: readonly LoggedRequest[],
): void {
  const found = requests.filter(({ method, path }) => fitsRequest(named, method, path)).length;
  if (count === undefined ? found > 0 : found === count) return;
  const times = count === undefined ? 'at least 1' : String(count);
  throw new SotraError('verification', `--expect '${text}': expected ${times}, found ${found}`, {
    hint: 'sotra sandbox log shows the requests.',
  });
}

const stopWaitMs = 30_000;

export async function stopServed({ readyFile }: { readyFile?: string | undefined }, context: Context): Promise<Result> {
  const { io, options } = context;
  const served = await findServed(context, readyFile);
  const { url, pid, db, file } = served;
  if (!options.dryRun) {
    await askServed(context, served, 'POST', 'stop');
    // Its ready file is removed last.
    for (const until = io.now() + stopWaitMs; existsSync(file) && io.system.isAlive(pid); ) {
      if (io.now() > until)
        throw new SotraError('wait-timeout', `process ${pid} did not end within ${stopWaitMs / 1000} s`, {
          hint: `kill ${pid}`,
        });
      await io.sleep(20, io.signal);
    }
  }
  return { kind: 'answer', answer: { url, pid, db, stopped: !options.dryRun } };
}
