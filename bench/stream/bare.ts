import { Agent } from 'undici';

/** The floor: asks for every page and parses it; with `lines` it also prints every item as a line of JSON. */
export async function measureBare(
  origin: string,
  wallet: string,
  items: number,
  kind: 'bare' | 'lines',
): Promise<void> {
  const agent = new Agent();
  let count = 0;
  for (let page = 1; count < items; page += 1) {
    const path = `/v1/addresses/${wallet}/positions/closed?page=${page}&limit=100`;
    const { body } = await agent.request({ origin, path, method: 'GET' });
    const cards: unknown[] = JSON.parse(await body.text());
    if (cards.length === 0) throw new Error(`the answers end after ${count} cards`);
    count += cards.length;
    if (kind === 'lines') for (const card of cards) process.stdout.write(`${JSON.stringify(card)}\n`);
  }
  await agent.close();
}
