import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type RunOptions, run } from './harness.ts';
import { until } from './until.ts';

export const secret = 'whsec_test';

/** A listener in this process; `stop` ends it and gives what it printed, `shown` is what it printed on stderr so far. */
export async function listen(
  folder: string,
  more: string | readonly string[] = '',
  secrets = `${secret}\n`,
  env: Record<string, string> = {},
  clock: Pick<RunOptions, 'now' | 'skipWaits'> = {},
) {
  const [file, ready] = [join(folder, 'secret'), join(folder, `ready-${Math.random()}`)];
  writeFileSync(file, secrets, { mode: 0o600 });
  const stopping = new AbortController();
  const words = `webhook listen --secret-file ${file} --ready-file ${ready}`;
  const given = typeof more === 'string' ? more.split(' ').filter(Boolean) : more;
  const argv = [...words.split(' '), ...(given.includes('--port') ? [] : ['--port', '0']), ...given];
  const shown = { err: '' };
  const onErr = (text: string) => {
    shown.err += text;
  };
  const ended = run(argv, { env: { SOTRA_DATA_DIR: folder, ...env }, signal: stopping.signal, onErr, ...clock });
  let early: { code: number; err: string } | undefined;
  ended.then((outcome) => {
    early = outcome;
  });
  await until(() => existsSync(ready) || early !== undefined);
  if (early !== undefined) return { url: '', ui: '', stop: async () => ended, shown };
  const { url, ui = '' } = JSON.parse(readFileSync(ready, 'utf8'));
  const stop = async () => {
    stopping.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { url, ui, stop, shown };
}

export function bodyOf(id: string, type = 'new-feed-item'): string {
  return `{"events":[{"eventId":"${id}","eventType":"${type}","walletAddresses":[],"feedItem":{"itemTitle":"Zo\u00eb"}}]}`;
}

export function signed(body: string, by = secret, t = Math.floor(Date.now() / 1000)): Record<string, string> {
  const signature = createHmac('sha256', by).update(`${t}.${body}`).digest('base64url');
  return { 'Daylight-Signature': `t=${t},v1=${signature}`, 'content-type': 'application/json' };
}

export const send = async (url: string, body: string, headers: Record<string, string>, path = '/hook') =>
  (await fetch(url + path, { method: 'POST', body, headers })).status;
