import { randomFrom } from '../../src/sandbox/seeded.ts';
import type { DemoToken } from './tokens.ts';

/** Price of one token in USD at a time in Unix milliseconds. */
export type PriceAt = (atMs: number) => number;

const stepMs = 3 * 3_600_000;

/**
 * Gives the price curve of a token from `startMs` to `endMs`: a step every three hours, straight lines between, now and
 * then a jump, laid so that the last price is the token's own. The same symbol on two chains has one curve. Times outside
 * give the nearest end.
 */
export function walkPrice(token: DemoToken, startMs: number, endMs: number): PriceAt {
  const random = randomFrom(`price of ${token.symbol}`);
  const steps = [1];
  let level = 1;
  for (let atMs = startMs; atMs < endMs; atMs += stepMs) {
    level *= 1 + stepChange(token.stepMove, random.next(), random.next(), random.next());
    if (random.chance(0.006)) level *= random.between(0.8, 1.32);
    steps.push(level);
  }
  const scale = token.priceUsd / level;
  return (atMs) => {
    const position = Math.min(Math.max((atMs - startMs) / stepMs, 0), steps.length - 1);
    const before = steps[Math.floor(position)] ?? level;
    const after = steps[Math.ceil(position)] ?? level;
    return scale * (before + (after - before) * (position % 1));
  };
}

/** Nearly normal with deviation `move`, out of three even draws: no logarithm, no cosine. */
function stepChange(move: number, first: number, second: number, third: number): number {
  return move * 2 * (first + second + third - 1.5);
}
