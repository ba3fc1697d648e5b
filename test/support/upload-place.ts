import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NetworkFailure } from '../../src/client/failures.ts';
import type { HttpRequest, Transport } from '../../src/client/transport.ts';
import { type RunOptions, run, temporaryFolder } from './harness.ts';

export const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
export const hook = 'https://d.example.com/hook';
export const made = { uid, destinationUrl: hook, secret: 'whsec_abcdefghij' };

type Told = [status: number, body: unknown, headers?: Record<string, string>];
export type Answer = (request: HttpRequest, count: number) => Told | Promise<Told>;
const well: Answer = ({ method }) => [200, method === 'GET' ? [made] : method === 'POST' ? made : { uid }];
/** The service before a webhook is made. */
export const fresh: Answer = (request, count) =>
  request.method === 'GET' && count === 1 ? [200, []] : well(request, count);
/** The connection breaks: whether the request arrived is not known. */
export const lost = (): never => {
  throw new NetworkFailure('broken', 'cut', undefined);
};

const bodyOf = (text: string) => ({ text, bytes: Buffer.byteLength(text) });

/** A place with files and a service that answers as told; `@` in a command line is its folder. */
export function place(answer: Answer = well) {
  const folder = temporaryFolder();
  const sent: HttpRequest[] = [];
  const service = { answer };
  const transport: Transport = {
    send: async (request) => {
      sent.push(request);
      const [status, body, headers] = await service.answer(
        request,
        sent.filter(({ method }) => method === request.method).length,
      );
      return { status, headers: { 'content-type': 'application/json', ...headers }, ...bodyOf(JSON.stringify(body)) };
    },
    close: async () => {},
  };
  const base = { SOTRA_BASE_URL: 'https://a.example.com', SOTRA_API_KEY: 'key-of-a-partner' };
  const sotra = async (argv: string, { env, ...options }: RunOptions = {}) => {
    const all = { ...base, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: join(folder, 'config'), ...env };
    const outcome = await run(argv.replaceAll('@', `${folder}/`), { transport, skipWaits: true, ...options, env: all });
    return { ...outcome, err: outcome.err.replaceAll(`${folder}/`, '@') };
  };
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const methods = () => sent.map(({ method }) => method).join(' ');
  const posts = () => sent.filter(({ method }) => method === 'POST').length;
  const json = async (argv: string) => JSON.parse((await sotra(`${argv} --json`)).out);
  return { folder, sent, service, sotra, json, write, read, methods, posts, uploads: () => uploadFolders(folder) };
}

/** Where a data folder keeps its uploads. */
function uploadFolders(data: string): string[] {
  const root = join(data, 'webhook', 'uploads');
  const names = existsSync(root) ? readdirSync(root) : [];
  return names.filter((name) => !name.includes('.')).map((name) => join(root, name));
}

/** A place whose service keeps webhooks; `fault` may answer before it does. */
export function kept(options: Parameters<typeof keepWebhooks>[0] = {}) {
  const service = keepWebhooks(options);
  const fault: { answer: (...of: Parameters<Answer>) => ReturnType<Answer> | undefined } = { answer: () => undefined };
  const { sent: requests, ...there } = place((request, count) => {
    const { method, url, body } = request;
    return fault.answer(request, count) ?? service.answer(method, url.pathname, body);
  });
  return { ...there, ...service, requests, fault, uids: () => service.hooks.map(({ uid }) => uid) };
}

export const ids = (count: number) => Array.from({ length: count }, (_, index) => `ext:${index}\n`).join('');
export const add = `webhook add-addresses ${uid} --file`;
export const register = `webhook register --url ${hook} --file`;

interface Hook {
  uid: string;
  destinationUrl: string;
  secret?: string;
}

/** What a service does with webhooks, as a function of method, path and body. */
export function keepWebhooks({ onePerUrl, toldOnce = false }: { onePerUrl?: number; toldOnce?: boolean } = {}) {
  const hooks: Hook[] = [];
  const held = new Map<string, Set<string>>();
  /** Each address that a webhook was sent, as often as it was. */
  const sent: string[] = [];
  let made = 0;
  const answer = (method: string, path: string, body: string | undefined): [status: number, body: unknown] => {
    const uid = path.split('/').at(-1) ?? '';
    const input = body ? JSON.parse(body) : {};
    const addresses: string[] = input.walletAddresses ?? [];
    switch (method) {
      case 'GET':
        return [200, hooks.map((each) => (toldOnce ? { ...each, secret: undefined } : each))];
      case 'POST': {
        const { destinationUrl } = input;
        if (onePerUrl !== undefined && hooks.some((each) => each.destinationUrl === destinationUrl))
          return [onePerUrl, { error: 'there is one' }];
        const hook = { uid: `w-${made}`, destinationUrl, secret: `whsec_${made}` };
        made += 1;
        hooks.push(hook);
        held.set(hook.uid, new Set(addresses));
        sent.push(...addresses.map((each) => `${hook.uid} ${each}`));
        return [200, hook];
      }
      case 'PUT': {
        const set = held.get(uid);
        if (set === undefined) return [404, { error: 'no such webhook' }];
        for (const each of addresses) set.add(each);
        sent.push(...addresses.map((each) => `${uid} ${each}`));
        return [200, { uid }];
      }
      default: {
        const index = hooks.findIndex((each) => each.uid === uid);
        if (index === -1) return [404, { error: 'no such webhook' }];
        hooks.splice(index, 1);
        held.delete(uid);
        return [200, {}];
      }
    }
  };
  const holds = (uid: string) => [...(held.get(uid) ?? [])].sort();
  return { answer, hooks, holds, sent };
}
