import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, openBrowser, violationsOf } from '../support/browser.ts';

const folder = mkdtempSync(join(tmpdir(), 'sotra-site-'));
const site = join(folder, 'site');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/site.mjs', site], { encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const htmlFiles = () =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.html') && name !== '404.html',
  );
/** Of the pages, which all load the same scripts and style. */
const largestFiles = (count: number) =>
  htmlFiles()
    .map((name) => ({ name, size: gzipSync(readFileSync(join(site, name))).length }))
    .toSorted((one, other) => other.size - one.size)
    .slice(0, count)
    .map(({ name }) => name);

const attributes = (html: string, names: string) =>
  [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );

describe('the files', () => {
  test('hold a page for each document, noun and list', () => {
    expect(htmlFiles()).toEqual(
      expect.arrayContaining(
        [
          ...['index', 'install', 'recipes', 'webhooks', 'signing', 'scripts', 'library', 'sandbox', 'scaling'],
          ...[
            'commands',
            'commands/leaderboard',
            'commands/webhook',
            'errors',
            'types/client',
            'wire',
            'security',
            'stability',
          ],
        ].map((name) => `${name}.html`),
      ),
    );
  });

  test('say on each page which version they are for', () => {
    const silent = htmlFiles().filter(
      (name) => !readFileSync(join(site, name), 'utf8').includes(`For sotra ${version}<`),
    );
    expect(silent).toEqual([]);
  });

  test('link to pages and headings that are there, and load nothing from elsewhere', () => {
    const texts = new Map(htmlFiles().map((name) => [`/${name}`, readFileSync(join(site, name), 'utf8')]));
    const ids = new Map([...texts].map(([name, html]) => [name, new Set(attributes(html, 'id'))]));
    const isBroken = (href: string, from: string) => {
      const { protocol, host, pathname, hash } = new URL(href, `http://site${from}`);
      if (protocol !== 'http:' || host !== 'site') return false;
      const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      const known = ids.get(path);
      if (known === undefined) return !existsSync(join(site, path));
      return hash !== '' && !known.has(decodeURIComponent(hash.slice(1)));
    };
    const broken = [...texts].flatMap(([name, html]) =>
      attributes(html, 'href|src')
        .filter((href) => isBroken(href, name))
        .map((href) => `${name}: ${href}`),
    );
    expect(broken).toEqual([]);
    const loaded = [...texts.values()].flatMap((html) => [
      ...attributes(html, 'src|srcset'),
      ...[...html.matchAll(/<link [^>]*>/g)].flatMap(([link]) => attributes(link, 'href')),
    ]);
    expect(loaded.filter((address) => !/^(\/(?!\/)|data:)/.test(address))).toEqual([]);
  });
});

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** Serves the files as a host of static pages does, compressed; gives the address and what was asked. */
async function serve() {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!existsSync(file) || statSync(file).isDirectory()) return response.writeHead(404).end();
    const type = types[extname(file)];
    const bytes = readFileSync(file);
    if (type === undefined) return response.end(bytes);
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-encoding': 'gzip' });
    return response.end(gzipSync(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, close: () => server.close() };
}

/** Bytes of what the page needs, as they came; its pictures are beside that. */
async function loadPage(tab: Page, url: string): Promise<{ bytes: number; hosts: string[] }> {
  const answers: { url: string; type: string; bytes: Promise<number> }[] = [];
  const count = (request: Request) =>
    answers.push({
      url: request.url(),
      type: request.resourceType(),
      bytes: request
        .sizes()
        .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
    });
  tab.on('requestfinished', count);
  await tab.goto(url, { waitUntil: 'networkidle' });
  tab.off('requestfinished', count);
  const sizes = await Promise.all(answers.filter(({ type }) => type !== 'image').map(({ bytes }) => bytes));
  const hosts = new Set(answers.map((answer) => new URL(answer.url).host).filter((host) => host !== ''));
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), hosts: [...hosts] };
}

test('the largest pages load at most 100 kB beside pictures, from its own server', async () => {
  const { url, close } = await serve();
  const browser = await openBrowser();
  const sizes: [bytes: number, page: string][] = [];
  try {
    for (const name of ['index.html', ...largestFiles(4)]) {
      // A context of its own has nothing in its cache.
      const tab = await (await browser.newContext()).newPage();
      const complaints = complaintsOf(tab);
      const { bytes, hosts } = await loadPage(tab, `${url}/${name}`);
      sizes.push([bytes, name]);
      expect([name, hosts, complaints]).toEqual([name, [new URL(url).host], []]);
      await tab.close();
    }
  } finally {
    close();
  }
  process.stdout.write(`bytes that pages load: ${sizes.map(([bytes, name]) => `${name} ${bytes}`).join(', ')}\n`);
  expect(sizes.filter(([bytes]) => bytes > 100_000)).toEqual([]);
});

test('axe finds nothing, in light and dark, wide and narrow', async () => {
  const { url, close } = await serve();
  const tab = await (await openBrowser()).newPage();
  try {
    await tab.setViewportSize({ width: 1280, height: 800 });
    await tab.goto(`${url}/install.html`, { waitUntil: 'networkidle' });
    expect(await violationsOf(tab)).toEqual([]);
    await tab.emulateMedia({ colorScheme: 'dark' });
    await tab.setViewportSize({ width: 390, height: 800 });
    expect(await violationsOf(tab)).toEqual([]);
    await tab.goto(`${url}/commands/feed.html`, { waitUntil: 'networkidle' });
    expect(await violationsOf(tab)).toEqual([]);
  } finally {
    close();
  }
});

test('the search finds a flag without asking anybody', async () => {
  const { url, close } = await serve();
  try {
    const tab = await (await openBrowser()).newPage();
    const asked = new Set<string>();
    tab.on('request', (request) => asked.add(new URL(request.url()).origin));
    await tab.goto(url, { waitUntil: 'networkidle' });
    await tab.keyboard.press('Control+k');
    await tab.getByRole('searchbox').fill('copytraded');
    await tab.getByRole('option').first().waitFor();
    expect(await tab.getByRole('option').first().textContent()).toContain('leaderboard copytraded');
    expect([...asked]).toEqual([url]);
  } finally {
    close();
  }
});
