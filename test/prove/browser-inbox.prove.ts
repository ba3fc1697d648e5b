import { connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openBrowser, violationsOf } from '../support/browser.ts';
import { answering, openPort, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { findNats, natsInstall, startCluster } from '../support/nats-server.ts';

/** The same page by another port, as ssh forwards one; `cut` ends each connection and refuses new ones until `mend`. */
async function forwardPort(ui: string): Promise<{ ui: string; cut: () => void; mend: () => void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(ui).port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  const port = await openPort(server);
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const forwarded = new URL(ui);
  forwarded.port = String(port);
  return {
    ui: forwarded.href,
    cut,
    mend: () => (isCut = false),
  };
}

const events = (tab: Page) => tab.locator('.browse .row').filter({ hasText: 'event' }).locator('.about');

describe.skipIf(findNats() === undefined)(`an inbox of a cluster (${findNats() ? 'found' : natsInstall})`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => (cluster = await startCluster(1)));
  afterAll(() => cluster.end());

  test('is shown live by two listeners, after a drop of the page and of the server without a gap', async () => {
    const inbox = `nats://127.0.0.1:${cluster.servers[0]?.port}/PAGE`;
    const target = await answering({});
    const listener = await listen(temporaryFolder(), `--ui --inbox ${inbox} --replicas 1 --forward-to ${target.url}/`);
    const other = await listen(temporaryFolder(), `--ui --inbox ${inbox}`);
    const browser = await (await openBrowser()).newContext();
    const tabs: Page[] = [];
    const open = async (ui: string) => {
      const tab = await browser.newPage();
      await tab.goto(ui);
      await expect.poll(() => tab.locator('.state').textContent()).toBe('Live');
      return tab;
    };
    const stateIs = async (state: string) => {
      for (const tab of tabs) await expect.poll(() => tab.locator('.state').textContent()).toBe(state);
    };
    const ports = [await forwardPort(listener.ui), await forwardPort(other.ui)];
    for (const { ui } of ports) tabs.push(await open(ui));
    const all: string[] = [];
    /** Sent until it is taken, as the service does. */
    const deliver = async (when: string) => {
      for (let index = 0; index < 20; index += 1) {
        const body = bodyOf(`${when}-${index}`).replace('Zo\u00eb', `${when}-${index}`);
        all.push(`${when}-${index}`);
        while ((await send(listener.url, body, signed(body))) !== 200);
      }
    };
    const everywhere = async (count: number) => {
      for (const tab of tabs) await expect.poll(() => events(tab).count()).toBe(count);
    };
    await deliver('before');
    await everywhere(20);

    for (const { cut } of ports) cut();
    await stateIs('Not connected');
    await deliver('away');
    for (const { mend } of ports) mend();
    await stateIs('Live');
    await everywhere(40);

    await cluster.servers[0]?.end();
    await cluster.servers[0]?.start();
    await deliver('after');
    await everywhere(60);
    for (const tab of tabs) {
      await expect.poll(() => tab.getByRole('alert').count()).toBe(0);
      await expect.poll(() => tab.locator('.status.waiting').count()).toBe(0);
      expect(await violationsOf(tab)).toEqual([]);
    }
    const idsOn = async (tab: Page | undefined) =>
      ((await (tab && events(tab))?.allTextContents()) ?? [])
        .map((text) => /(before|away|after)-\d+/.exec(text)?.[0])
        .reverse();
    const arrived = target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);
    expect([new Set(arrived).size, await idsOn(tabs[0]), await idsOn(tabs[1])]).toEqual([60, all, all]);
  });
});
