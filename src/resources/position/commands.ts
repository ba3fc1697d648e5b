import { z } from 'zod';
import type { Command, Result } from '../../cli/command.ts';
import { chartParam, endpointCommand } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { type Endpoint, inPath, local, type Params } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import type { Card } from '../../model/position.ts';
import type { AnyView } from '../../output/view.ts';
import * as endpoints from './endpoints.ts';
import { tradeMoment } from './moment.ts';
import { type PriceOf, readPrices } from './prices.ts';

const views = () => import('./view.ts');

const priceParams = {
  price: local(
    z.number().min(0).optional(),
    'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv',
  ),
  pricesFile: local(
    z.string().min(1).optional(),
    'JSON file of prices in USD by chain:address or symbol, e.g. {"base:0x4ed4...": 0.0041, "ETH": 1875}',
  ),
};

type PricedView = (priceOf?: PriceOf) => AnyView;

/** The command of an endpoint that answers cards, with the prices that the user gives beside it. */
function priced(endpoint: Endpoint, view: () => Promise<PricedView>, plain: Command): Command {
  return {
    ...plain,
    words: endpoint.id.split('.'),
    exitCodes: [3, ...plain.exitCodes],
    run: async (typed: Record<string, unknown>, context: Context): Promise<Result> => {
      const priceOf = await readPrices(typed, context.world.io);
      if (priceOf !== undefined && typed['chart'] === true)
        throw usageError(
          '--chart draws what is realized: it has no place for prices',
          'Leave --chart or the prices out.',
        );
      const result = await plain.run(typed as never, context);
      if (priceOf === undefined || (result.kind !== 'answer' && result.kind !== 'items')) return result;
      if (context.options.format === 'json' || context.options.format === 'ndjson')
        context.note("Prices fill columns of tables, csv and tsv; JSON is the service's answer unchanged.");
      const priced = { ...result, view: (await view())(priceOf) };
      if (typed['price'] === undefined) return priced;
      if (priced.kind === 'items') return { ...priced, batches: ofOneToken(priced.batches) };
      checkToken([priced.answer].flat(), undefined);
      return priced;
    },
  };
}

/** Passes cards on as long as all are of one token: one price cannot fit two. Errors: `usage`. */
async function* ofOneToken(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]> {
  let first: string | undefined;
  for await (const batch of batches) {
    first = checkToken(batch, first);
    yield batch;
  }
}

function checkToken(cards: readonly unknown[], first: string | undefined): string | undefined {
  const names = (cards as readonly Card[]).map(({ metadata }) => `${metadata.tokenSymbol} on ${metadata.tokenChain}`);
  const expected = first ?? names[0];
  const other = names.find((name) => name !== expected);
  if (other === undefined) return expected;
  throw usageError(
    `--price fits one token, and these positions are in ${expected} and ${other}`,
    'Give a price for each token: --prices-file prices.json with {"base:0x4ed4...": 0.0041, "ETH": 1875}.',
  );
}

/** `token positions`: with prices of the user's. */
export const ofToken = priced(
  endpoints.ofToken,
  async () => (await views()).ofToken,
  endpointCommand(endpoints.ofToken, async () => (await views()).ofToken(), { params: priceParams }),
);

/** `profile positions`: with prices of the user's, in a file where there are several tokens. */
export const ofProfile = priced(
  endpoints.ofProfile,
  async () => (await views()).ofProfile,
  endpointCommand(endpoints.ofProfile, async () => (await views()).ofProfile(), {
    params: { ...priceParams, chart: chartParam },
  }),
);

/** `position get`: with prices of the user's. */
export const get = priced(
  endpoints.get,
  async () => (await views()).one,
  endpointCommand(endpoints.get, async () => (await views()).one(), { params: { ...priceParams, chart: chartParam } }),
);

const findParams = {
  timestamp: inPath(z.string().min(1), 'when it traded: ISO time (UTC), Unix seconds or milliseconds, or now'),
  ...priceParams,
  chart: chartParam,
} satisfies Params;

/** `position find`: takes the time in any form and sends it in the unit of the chain. */
export const find = priced(
  endpoints.find,
  async () => (await views()).one,
  endpointCommand(endpoints.find, async () => (await views()).one(), {
    params: findParams,
    prepare: ({ price: _, pricesFile: __, chart: ___, ...typed }, { world }) => ({
      ...typed,
      timestamp: tradeMoment(typed.timestamp, typed.chain, world.now()),
    }),
  }),
);
