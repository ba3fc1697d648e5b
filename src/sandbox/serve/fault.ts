import { createHash } from 'node:crypto';
import { parseDuration } from '../../api/duration.ts';
import { cutQuery, type IncomingRequest, makeAnswer, type ServedAnswer } from '../service/handler.ts';

export interface Fault {
  does: { kind: 'status'; status: number } | { kind: 'delay'; ms: number } | { kind: 'drop' | 'truncate' | 'garbage' };
  when: { kind: 'every' | 'first'; count: number } | { kind: 'p'; share: number };
  method: string;
  path: RegExp;
  text: string;
}

export const faultForm =
  'must be <status|drop|delay=2s|truncate|garbage>:<every=3|p=0.1|first=2>:<METHOD path-glob>, ' +
  "such as '503:every=3:PUT /v1/webhooks/**'";

/**
 * Reads one `--fault`; `undefined` for other text, also for a path with a query. A `*` in the path is one segment, `**` any rest; the method
 * `*` is any.
 */
export function parseFault(text: string): Fault | undefined {
  const [, doing = '', timing = '', method = '', glob = ''] =
    /^([^:]+):([^:]+):(\S+) +(\/[^\s?]*|\*\*?)$/.exec(text) ?? [];
  const does = readDoes(doing);
  const when = readWhen(timing);
  if (does === undefined || when === undefined || !/^([A-Z]+|\*)$/.test(method)) return undefined;
  return { does, when, method, path: globPattern(glob), text };
}

function readDoes(text: string): Fault['does'] | undefined {
  if (/^[45]\d\d$/.test(text)) return { kind: 'status', status: Number(text) };
  if (text === 'drop' || text === 'truncate' || text === 'garbage') return { kind: text };
  const ms = text.startsWith('delay=') ? parseDuration(text.slice('delay='.length)) : undefined;
  return ms === undefined ? undefined : { kind: 'delay', ms };
}

function readWhen(text: string): Fault['when'] | undefined {
  const [kind, value = ''] = text.split('=');
  if ((kind === 'every' || kind === 'first') && /^[1-9]\d{0,8}$/.test(value)) return { kind, count: Number(value) };
  const share = /^(0|1|0?\.\d+|1\.0+)$/.test(value) ? Number(value) : undefined;
  return kind === 'p' && share !== undefined ? { kind, share } : undefined;
}

/** Whether a request is one that a fault or an expectation names. */
export function fitsRequest(named: Pick<Fault, 'method' | 'path'>, method: string, target: string): boolean {
  return ['*', method].includes(named.method) && named.path.test(cutQuery(target));
}

/** A path in which `*` is one segment and `**` any rest. */
export function globPattern(glob: string): RegExp {
  const segment = glob === '*' ? '.*' : '[^/]*';
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? segment : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

/** `cut`: half of the answer or nothing is sent before the connection is closed. `fault`: the injected fault as it was written. */
export type FaultyAnswer = ServedAnswer & { cut?: 'half' | 'all'; fault?: string };

/**
 * Injects the first fault that is due for a request. With a status the request is not processed; a delayed, truncated or garbled one is;
 * a dropped one is processed every second time.
 */
export function createFaultInjector(faults: readonly Fault[], sleep: (ms: number) => Promise<void>) {
  const random = randomFrom('faults');
  const counts = new WeakMap<Fault, number>();
  const isDue = (fault: Fault): boolean => {
    const count = (counts.get(fault) ?? 0) + 1;
    counts.set(fault, count);
    if (fault.when.kind === 'p') return random.chance(fault.when.share);
    return fault.when.kind === 'every' ? count % fault.when.count === 0 : count <= fault.when.count;
  };
  let drops = 0;
  const inject = async ({ does }: Fault, answer: () => Promise<ServedAnswer>): Promise<FaultyAnswer> => {
    switch (does.kind) {
      case 'status':
        return refuse(does.status);
      case 'delay':
        await sleep(does.ms);
        return answer();
      case 'drop':
        drops += 1;
        return { ...(drops % 2 === 0 ? await answer() : refuse(0)), cut: 'all' };
      case 'truncate':
        return { ...(await answer()), cut: 'half' };
      case 'garbage':
        return { ...(await answer()), text: '\u0000<!garbage\u001b[2J{"' };
    }
  };
  return async (request: IncomingRequest, answer: () => Promise<ServedAnswer>): Promise<FaultyAnswer> => {
    const fault = faults.filter((each) => fitsRequest(each, request.method, request.target)).filter(isDue)[0];
    return fault === undefined ? answer() : { ...(await inject(fault, answer)), fault: fault.text };
  };
}

function refuse(status: number): ServedAnswer {
  const headers: Record<string, string> = status === 429 || status === 503 ? { 'retry-after': '1' } : {};
  return makeAnswer(status, JSON.stringify({ error: `fault of the sandbox: ${status}` }), headers);
}

/** Numbers that look random, the same for the same seed on every machine. */
export function randomFrom(seed: string) {
  let count = 0;
  /** A number in [0, 1). */
  const next = (): number => {
    count += 1;
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
  /** A whole number from low to high, both included. */
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    whole,
    /** A number in [low, high). */
    between: (low: number, high: number): number => low + next() * (high - low),
    /** True with the given chance (0..1). */
    chance: (share: number): boolean => next() < share,
    /** One item of a list that has at least one. */
    pick: <T>(list: readonly T[]): T => list[whole(0, list.length - 1)] as T,
  };
}

export type Random = ReturnType<typeof randomFrom>;
