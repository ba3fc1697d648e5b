import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../api/http-address.ts';
import { isObject, parseJson, tryParseJson } from '../../api/json.ts';
import { command } from '../../client/shell.ts';
import { usualLimits } from '../../client/transport.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { dataDirectory } from '../../lib/config/directories.ts';
import { makeFolder, readStateFile } from '../../lib/files/durable-file.ts';
import { openNetwork } from '../../lib/transport.ts';
import { controlHeader } from '../../sandbox/service/handler.ts';

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
export function servedFolder(context: Context): string {
  const folder = locateFolder(context);
  makeFolder(folder);
  return folder;
}

/**
 * The sandbox of a ready file, the one at the base URL, or the only one that runs. It must answer to the control token of its file with its
 * process id. Errors: `not-found` when none does; `usage` for several; `local-file` for a ready file that does not exist.
 */
export async function findServed(context: Context, readyFile?: string, baseUrl?: string): Promise<ServedSandbox> {
  if (readyFile !== undefined && !existsSync(readyFile))
    throw new SotraError('local-file', `--ready-file ${readyFile}: no such file`, { hint: 'Correct its path.' });
  const files = readyFile === undefined ? servedFiles(context) : [readyFile];
  const known = files.flatMap((file) => readReady(file) ?? []);
  const wanted = baseUrl ?? (await readTypedUrl(context)) ?? readEnvironmentUrl(context);
  const candidates =
    wanted === undefined || readyFile !== undefined ? known : known.filter(({ url }) => isSame(url, wanted));
  const answered = await Promise.all(candidates.map(async (each) => ((await answers(context, each)) ? [each] : [])));
  const [found, ...others] = answered.flat();
  if (found === undefined) {
    const where = readyFile === undefined ? wanted : `the address in ${readyFile}`;
    throw new SotraError('not-found', `no sandbox is served${where === undefined ? '' : ` at ${where}`}`, {
      hint: 'Start one with sotra sandbox start --detach. One with another SOTRA_DATA_DIR is found by --ready-file.',
    });
  }
  if (others.length > 0)
    throw usageError(
      `several sandboxes are served: ${[found, ...others].map(({ url }) => url).join(', ')}`,
      command`Name one: --base-url ${found.url}`,
    );
  return found;
}

/** Asks the control of a served sandbox. Errors: those of the transport; `bad-request` with its refusal; `bad-answer` if something else answers. */
export async function askServed(
  { io, options }: Context,
  { url, controlToken }: Pick<Ready, 'url' | 'controlToken'>,
  method: 'GET' | 'POST',
  path: string,
): Promise<unknown> {
  const transport = await openNetwork({ ...io, env: {} });
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

/** The base URL of the command line: `--base-url`, or the one of `--context`. */
export async function readTypedUrl({ options, config }: Context): Promise<string | undefined> {
  if (options.sandbox || options.context === undefined) return options.baseUrl;
  const { kind, baseUrl } = await config.service();
  return kind === 'sandbox' ? undefined : baseUrl;
}

/** The base URL of the environment, if a sandbox may be served there. */
export function readEnvironmentUrl({ options, io }: Context): string | undefined {
  const url = io.env['SOTRA_BASE_URL'] ?? '';
  return !options.sandbox && URL.canParse(url) && isLoopback(new URL(url).hostname) ? url : undefined;
}

function servedFiles(context: Context): string[] {
  const folder = locateFolder(context);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function locateFolder(context: Context): string {
  return join(dataDirectory(context.io), 'served');
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
