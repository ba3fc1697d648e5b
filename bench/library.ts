// What a page or a service carries of our client; and what a call through it costs beside bare fetch and JSON.parse. Needs `npm run build`
// before.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { type Row, report } from './measure/measure.ts';

const folder = 'dist/library';
const calls = 10_000;
/** Many short ones: what else the machine does is in both. */
const rounds = 50;

/** Kilobytes of an entry, bundled, minified and gzipped; without what it loads only when it is needed. */
async function bundledKb(input: string): Promise<number> {
  const bundle = await rolldown({ input, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const chunks = output.filter((file) => file.type === 'chunk');
  const loaded = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded) for (const chunk of chunks) if (imports.includes(chunk.fileName)) loaded.add(chunk);
  return [...loaded].reduce((sum, { code }) => sum + gzipSync(code).length, 0) / 1024;
}

const answer = JSON.stringify({
  traders: Array.from({ length: 10 }, (_, id) => ({
    profile: { id: String(id), name: `trader ${id}`, images: {}, addresses: [`0x${'a'.repeat(40)}`], metadata: {} },
    pnl: { total: id },
  })),
});
const server = `
  const server = require('node:http').createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(${JSON.stringify(answer)});
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

async function callRows(): Promise<Row[]> {
  const child = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    const baseUrl = `http://127.0.0.1:${String(port).trim()}`;
    const { createClient } = await import(pathToFileURL(`${folder}/index.js`).href);
    const client = createClient({ baseUrl, apiKey: 'key-of-a-partner' });
    const headers = { accept: 'application/json', authorization: 'Bearer key-of-a-partner' };
    const ours = () => client.leaderboard.list({ limit: 10 });
    const bare = async () => JSON.parse(await (await fetch(`${baseUrl}/v2/leaderboard?limit=10`, { headers })).text());
    const micros = async (call: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      for (let count = 0; count < calls / rounds; count += 1) await call();
      return (performance.now() - started) / (calls / rounds);
    };
    for (const call of [bare, ours]) await micros(call);
    const [floor, measured]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      floor.push(await micros(bare));
      measured.push(await micros(ours));
    }
    return [{ what: 'library: a call, beside fetch and JSON.parse', unit: 'ms', floor, measured, atMost: 1.25 }];
  } finally {
    child.kill();
  }
}

report([
  { what: 'library: sotra, gzip', unit: 'KB', measured: [await bundledKb(`${folder}/index.js`)], atMost: 10 },
  { what: 'library: sotra/webhook, gzip', unit: 'KB', measured: [await bundledKb(`${folder}/webhook.js`)], atMost: 2 },
  { what: 'library: sotra/signing, gzip', unit: 'KB', measured: [await bundledKb(`${folder}/signing.js`)] },
  ...(await callRows()),
]);
