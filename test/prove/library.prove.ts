import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { startSandbox } from 'sotra/sandbox';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { stub } from '../support/harness.ts';
import { program } from '../support/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sotra-library-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The installed package, and the folder of the project that installed it. */
const installed = dirname(dirname(program));
const project = dirname(dirname(installed));

test('are the types wrong? finds nothing for modules', async () => {
  const [tarball = ''] = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  const result = await checkPackage(createPackageFromTarballData(readFileSync(join(project, tarball))));
  const modules = result.types === false ? ['no types'] : result.problems.filter((one) => !isOfOtherLoaders(one));
  expect(modules).toEqual([]);
});

/** As the profile esm-only of its command line: this package is modules alone. */
function isOfOtherLoaders(problem: object): boolean {
  return 'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(String(problem.resolutionKind));
}

const page = `<!doctype html><script type="importmap">
{ "imports": { "sotra": "/index.js", "sotra/webhook": "/webhook.js", "sotra/signing": "/signing.js" } }
</script>`;

test('client, webhook and signing run in Chromium, the client against a sandbox of another origin', async () => {
  const { url: origin } = await stub(({ url }, response) => {
    const isPage = url === '/';
    response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript');
    response.end(isPage ? page : readFileSync(join(installed, 'dist/library', url)));
  });
  const sandbox = await startSandbox({ cors: origin, serviceName: 'Example' });
  onTestFinished(sandbox.close);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(origin);
  const said: string[] = [];
  tab.on('console', (line) => said.push(line.text()));
  const seen = await tab.evaluate(
    `(async () => {
      const { createClient, SotraError } = await import('sotra');
      const { verifyWebhook } = await import('sotra/webhook');
      const { signComment, verifyComment } = await import('sotra/signing');
      const client = createClient({ baseUrl: '${sandbox.url}', apiKey: '${sandbox.keys[0]}' });
      const { traders } = await client.leaderboard.list({ chains: ['base'], limit: 5 });
      const ids = new Set();
      let count = 0;
      for await (const { itemId } of client.feed.actor.all({ identifier: traders[0].profile.id, chains: ['all'], limit: 3 })) {
        ids.add(itemId);
        count += 1;
      }
      const failed = await client.position.get({ id: 'nope' }).catch((error) => error);
      const stop = AbortSignal.abort();
      const stopped = await client.webhook.list({}, { signal: stop }).catch((error) => error);
      const comment = {
        chain: 'solana', tokenAddress: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', commentText: 'gm', serviceName: 'Example',
        transactionHash: '3Z7cj4v76xSs59irxxNCE5hTm8MW56xxxjQr58ekxjo8yDUMNV16d9iLhHDx84LUErLUiEfm9cHSEYxmtsZ2ShQ',
      };
      const signed = await signComment({ ...comment, signer: { seed: new Uint8Array(32).fill(7) } });
      const header = 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac';
      const verified = await verifyWebhook({ header, body: '{"test":"body"}', secrets: 'SuperSecret123' });
      return {
        traders: traders.length, walked: count > 3 && count === ids.size,
        failed: [failed instanceof SotraError, failed.code, failed.status, typeof failed.requestId],
        stopped: stopped.code, signed: (await verifyComment({ ...comment, ...signed })).valid, verified: verified.valid,
      };
    })()`,
  );
  expect(seen).toEqual({
    traders: 5,
    walked: true,
    failed: [true, 'not-found', 404, 'string'],
    stopped: 'interrupted',
    signed: true,
    verified: true,
  });
  // The browser tells of an answer with 404 by itself; we print nothing.
  expect(said.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
});

test('the example for node:test runs', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', 'examples/node.test.mjs']);
  expect(stdout).toMatch(/^# pass 1$/m);
});
