import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exampleEventId } from '../../src/api/webhook-signature.ts';
import { contentsOf, run, stub, temporaryFolder, until } from '../support/harness.ts';
import { listen, secret, send, signed } from '../support/listening.ts';

/** Made for this test alone, one for each place where an address or a header may hold a secret. */
const canaries = ['cUser4711', 'cPass4711', 'cToken4711', 'cQuery4711', 'cHeader4711', 'cCookie4711', 'cBasic4711'];
const destination = 'https://cUser4711:cPass4711@hooks.example.com/in?token=cToken4711&a=1';

/** The files of a folder and its folders, with those canaries that each holds. */
function leaks(folder: string): string[] {
  return [...contentsOf(folder)].flatMap(([name, bytes]) =>
    canaries.filter((canary) => bytes.includes(canary)).map((canary) => `${name}: ${canary}`),
  );
}

test('nothing that is stored or shown with an answer contains the secrets of URLs and headers', async () => {
  const folder = temporaryFolder();
  const service = await stub(({ method, url }, response) => {
    const made = { uid: 'hook-1', destinationUrl: destination, secret: 'c2VjcmV0IG9mIGEgaG9vaw==' };
    response.setHeader('x-session-token', 'cHeader4711');
    response.setHeader('set-cookie', 'sid=cCookie4711');
    response.statusCode = url.includes('fails') ? 400 : 200;
    response.end(JSON.stringify(url.includes('fails') ? { error: `no ${destination}` } : method === 'GET' ? [] : made));
  });
  const env = { ...service.env, SOTRA_DATA_DIR: join(folder, 'data'), SOTRA_CONFIG_DIR: join(folder, 'config') };
  const said: string[] = [];
  const sotra = async (...argv: string[]) => {
    const { out, err, code } = await run(argv, { env });
    said.push(err);
    return { out, code };
  };
  const query = ['-q', 'api_key=cQuery4711', '-q', `to=${destination}`];
  expect((await sotra('request', 'GET', '/v1/any', ...query, '--verbose')).code).toBe(0);
  expect((await sotra('request', 'GET', '/v1/fails', ...query, '--verbose')).code).toBe(6);
  const registering = ['webhook', 'register', '--url', destination, '--wallet-addresses', 'ext:1'];
  expect((await sotra(...registering, '--verbose')).code).toBe(0);
  for (const argv of ['history', 'history --format csv', 'history show 1', 'webhook list', 'history show 2 --json']) {
    const { out, code } = await sotra(...argv.split(' '));
    expect([argv, code]).toEqual([argv, 0]);
    said.push(out);
  }
  expect((await sotra('bundle', '--out', join(folder, 'bundle.json'), '--yes')).code).toBe(0);
  expect(leaks(folder)).toEqual([]);
  expect(canaries.filter((canary) => said.join('\n').includes(canary))).toEqual([]);
});

test('the store of deliveries and what is shown of it hold no secret of a target or a header', async () => {
  const folder = temporaryFolder();
  const target = await stub((_, response) => response.end('{}'));
  const to = target.url.replace('http://', 'http://cUser4711:cPass4711@');
  const { url, stop, shown } = await listen(folder, `--forward-to ${to}/in?token=cToken4711`);
  const body = JSON.stringify({ eventId: 'e-1', eventType: 'new-feed-item' });
  const headers = { ...signed(body), authorization: 'Basic cBasic4711' };
  expect(await send(url, body, headers, '/hook?api_key=cQuery4711')).toBe(200);
  expect(await send(url, body, { ...headers, ...signed(body, 'another secret') }, '/hook?api_key=cQuery4711')).toBe(
    401,
  );
  const probe = JSON.stringify({ eventId: exampleEventId, eventType: 'new-feed-item' });
  expect(await send(url, probe, { ...headers, ...signed(probe) }, '/hook?api_key=cQuery4711')).toBe(200);
  await until(() => target.requests.length === 1);
  const forwarded = async () => {
    const { out } = await run('webhook show e-1 --json', { env: { SOTRA_DATA_DIR: folder } });
    return JSON.parse(out).forwards.length === 1;
  };
  await expect.poll(forwarded).toBe(true);
  // It gets what came, and is reached as it was named.
  expect([target.requests[0]?.url, target.requests[0]?.body]).toEqual(['/in?token=cToken4711', body]);
  const env = { SOTRA_DATA_DIR: folder };
  const { out, code } = await run('webhook show e-1', { env, tty: 100 });
  const json = await run('webhook show e-1 --json', { env });
  await stop();
  expect([code, out]).toEqual([0, expect.stringContaining('http://***@')]);
  expect(shown.err).toContain('refused POST /hook?api_key=***: 401, wrong secret or body changed');
  expect(shown.err).toContain('validation probe to /hook?api_key=***: answered 200');
  const all = out + json.out + shown.err;
  expect([...canaries, secret].filter((each) => all.includes(each))).toEqual([]);
  // The header itself is kept: whoever the delivery is forwarded to later may ask for it.
  expect(new Set(leaks(folder).map((leak) => leak.split(': ')[1]))).toEqual(new Set(['cBasic4711']));
});
