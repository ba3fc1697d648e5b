import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import type { CallEvent } from '../http/client.ts';
import { requestIdOf } from '../http/failures.ts';
import { secretHider } from '../http/secrets.ts';
import { readEnv, type Service } from '../setup/settings.ts';
import { configDirectory, dataDirectory, openStore } from '../setup/store.ts';
import type { HttpRequest, World } from '../world.ts';
import { addCalls, type PastCall } from './history-file.ts';

/** One call, with all its attempts. */
interface CallRecord {
  observe: (event: CallEvent) => void;
  /** `thrown` is what it ended with. */
  end: (thrown?: unknown) => void;
}

const maxBodyLength = 4096;
const maxErrorLength = 500;

export function historyFolder(world: Pick<World, 'env' | 'system'>): string {
  return join(dataDirectory(world), 'history');
}

/** Of one command line, besides those that fail: an upload or a watch would push everything else out of the history. */
export const maxOfCommand = 100;

/** Calls that come faster than this are written together: each write would take a tenth of a quick request. */
const minPauseMs = 100;

/** The calls of this command line. */
interface History {
  start: () => CallRecord;
  /** Writes what was not written yet. */
  close: () => void;
}

/** `undefined` where nothing is remembered (SOTRA_HISTORY=0, `history set off`). */
export function openHistory(service: Service, world: World): History | undefined {
  try {
    if (readEnv(world.env, 'SOTRA_HISTORY') === '0') return undefined;
    if (openStore(configDirectory(world)).read().history === false) return undefined;
    const folder = historyFolder(world);
    const hide = secretHider(service.apiKey ?? undefined);
    let unwritten: PastCall[] = [];
    let writtenMs = 0;
    let calls = 0;
    const close = () => {
      const ready = unwritten;
      unwritten = [];
      writtenMs = world.now();
      try {
        if (ready.length > 0) addCalls(folder, ready, world);
      } catch {
        // A full or read-only disk is no failure of the command.
      }
    };
    const add = (call: PastCall) => {
      unwritten.push(call);
      if (Math.abs(world.now() - writtenMs) >= minPauseMs) close();
    };
    const isKept = (hasFailed: boolean) => {
      calls += 1;
      return hasFailed || calls <= maxOfCommand;
    };
    return { start: () => recordCall(service, hide, world, { isKept, add }), close };
  } catch {
    return undefined;
  }
}

function recordCall(
  { baseUrl, context, isElsewhere }: Service,
  hide: (text: string) => string,
  { now }: World,
  { isKept, add }: { isKept: (hasFailed: boolean) => boolean; add: (call: PastCall) => void },
): CallRecord {
  let atMs = 0;
  let sent: HttpRequest | undefined;
  let [attempts, status]: [number, number | null] = [0, null];
  let requestId: string | undefined;
  return {
    observe: (event) => {
      if (event.kind === 'request') {
        if (sent === undefined) atMs = now();
        sent ??= event.request;
        attempts = event.attempt;
      } else if (event.kind === 'failure') status = null;
      else if (event.kind === 'answer') {
        status = event.status;
        requestId = requestIdOf(event.headers);
      }
    },
    end: (thrown) => {
      if (sent === undefined || !isKept(thrown !== undefined)) return;
      const { method, url, body } = sent;
      const path = hide(url.href.slice(url.href.startsWith(baseUrl) ? baseUrl.length : url.origin.length));
      const error = thrown === undefined ? undefined : hide(messageOf(thrown)).slice(0, maxErrorLength);
      const ms = Math.round(now() - atMs);
      const place = { baseUrl, context: isElsewhere ? undefined : context };
      const shared = { atMs, method, ...place, path, status, ms, attempts, requestId, error };
      add({ ...shared, ...(body !== undefined && bodyOf(body, hide)) });
    },
  };
}

function bodyOf(body: string, hide: (text: string) => string): Pick<PastCall, 'body' | 'bodyBytes'> {
  return body.length <= maxBodyLength && hide(body) === body ? { body } : { bodyBytes: Buffer.byteLength(body) };
}
