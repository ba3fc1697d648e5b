import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGlobals } from '../../src/cli/globals.ts';
import { createContext } from '../../src/context.ts';
import type { SotraError } from '../../src/errors.ts';
import { NetworkFailure } from '../../src/http/failures.ts';
import { addressesFile, settleDraft } from '../../src/upload/jobs.ts';
import { type Plan, readJournal } from '../../src/upload/journal.ts';
import { runUpload, type UploadEvent } from '../../src/upload/upload.ts';
import type { HttpRequest, World } from '../../src/world.ts';
import { newFolder } from './folder.ts';

export type Reply = { status: number; body: unknown } | NetworkFailure;
/** What a service does with a request: the n-th of its method, from 1. */
export type Service = (request: HttpRequest, body: Record<string, unknown>, count: number) => Reply | Promise<Reply>;

export const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
export const destinationUrl = 'https://d.example.com/hook';
export const plan: Plan = {
  ...{ kind: 'plan', v: 1, job: '0123456789ab', task: 'register', baseUrl: 'https://a.example.com', keyId: 'k' },
  ...{ destinationUrl, uid: null, secretFile: null, addresses: 2500, chunks: 3, duplicates: 0, rejected: 0 },
  ...{ digest: 'd', atMs: 1000 },
};
export const lost = new NetworkFailure('broken', 'cut', undefined);
export const down = new NetworkFailure('refused', 'no', undefined);
export const ok = (body: unknown = null): Reply => ({ status: 200, body });
export const failed = (status: number): Reply => ({ status, body: { error: 'e' } });
export const made = { uid, destinationUrl, secret: 'whsec_abcdefghij' };

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

/** A folder with a list of so many addresses, and what runs an upload of it against a service. */
export async function uploading(
  service: Service,
  changes: Partial<Plan> = {},
  {
    stop = new AbortController(),
    retries,
    ofCall = 0,
  }: { stop?: AbortController; retries?: string; ofCall?: number } = {},
) {
  const jobs = newFolder();
  const draft = join(jobs, 'draft-1');
  const own = { ...plan, ...changes };
  mkdirSync(draft);
  const names = Array.from({ length: own.addresses }, (_, index) => `ext:${index}`);
  writeFileSync(addressesFile(draft), names.map((name) => `${name}\n`).join(''));
  const folder = await settleDraft(jobs, draft, own);
  const sent: { method: string; path: string; first?: unknown; count?: number }[] = [];
  const waits: number[] = [];
  let nowMs = 5000;
  const world = {
    env: { SOTRA_BASE_URL: 'https://a.example.com', SOTRA_API_KEY: 'key-of-a-partner' },
    version: '0',
    io: { err: { isTTY: false } },
    now: () => nowMs,
    random: () => 0,
    signal: stop.signal,
    sleep: async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted();
      waits.push(ms);
      nowMs += ms;
    },
    transport: {
      send: async (request: HttpRequest) => {
        const body = JSON.parse(request.body ?? '{}');
        const list: unknown[] | undefined = body.walletAddresses;
        const { method, url } = request;
        sent.push({ method, path: url.pathname, ...(list && { first: list[0], count: list.length }) });
        const reply = await service(request, body, sent.filter((one) => one.method === method).length);
        if (reply instanceof NetworkFailure) throw reply;
        return { status: reply.status, headers: {}, body: bytes(JSON.stringify(reply.body)) };
      },
      close: async () => {},
    },
  } as unknown as World;
  const options = readGlobals(retries === undefined ? {} : { retries });
  const program = { commands: [], endpoints: [] } as never;
  const created = createContext({
    argv: [],
    world,
    options,
    program,
    runLine: async () => 0,
    say: () => undefined,
    stream: () => undefined,
  });
  // Without `--retries` a call repeats by itself `ofCall` times.
  const context: typeof created = {
    ...created,
    call: (endpoint, input, link, left) => created.call(endpoint, input, link, left ?? ofCall),
  };
  const secrets: (string | undefined)[] = [];
  /** `meanwhile` is what somebody does to the folder between the reading of the journal and the upload. */
  const run = async (concurrency = 1, another = false, meanwhile: () => void = () => undefined) => {
    const state = readJournal(folder);
    if (state === undefined) throw new Error('no journal');
    meanwhile();
    const events: UploadEvent[] = [];
    const keepSecret = (_: string, secret: string | undefined) => void secrets.push(secret);
    const failure = await (async () => {
      const onEvent = async (event: UploadEvent) => void events.push(event);
      const own = { others: () => new Set<string>(), keptSecret: () => undefined, keepSecret, onEvent };
      await runUpload({ context, job: { folder, state }, concurrency, another, ...own });
    })().catch((error: SotraError) => error);
    return { events, failure, held: state, state: readJournal(folder) };
  };
  return { run, sent, waits, secrets, folder, jobs };
}

export const puts = (sent: readonly { method: string; first?: unknown; count?: number }[]) =>
  sent.filter(({ method }) => method === 'PUT').map(({ first, count }) => [first, count]);

export const kind: Service = ({ method }) => (method === 'GET' ? ok([]) : method === 'POST' ? ok(made) : ok({ uid }));
