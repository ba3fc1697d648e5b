import { Agent } from 'undici';

/** The floor: asks for every page and parses it, nothing else. */
export async function measureBare(origin: string, wallet: string, items: number): Promise<void> {
  const agent = new Agent();
  let count = 0;
  for (let page = 1; count < items; page += 1) {
    const path = `/v1/addresses/${wallet}/positions/closed?page=${page}&limit=100`;
    const { body } = await agent.request({ origin, path, method: 'GET' });
    const cards: unknown[] = JSON.parse(await body.text());
    if (cards.length === 0) throw new Error(`the answers end after ${count} cards`);
    count += cards.length;
  }
  await agent.close();
}
