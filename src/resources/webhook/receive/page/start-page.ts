import { serveWeb } from '../../../../web/serve.ts';
import type { RefusedRequest } from '../listener.ts';
import { createDeliveriesApp, type PageOptions } from './deliveries-app.ts';

/** A page that is served. */
export interface Page {
  /** With the token that one browser may exchange. */
  url: string;
  /** Shows a request that was refused. */
  addRefused: (request: RefusedRequest) => void;
  /** Rejects where the inbox cannot be read any more. */
  broken: Promise<never>;
  close: () => Promise<void>;
}

/** Serves the page of deliveries. Errors: `config` where it cannot be served. */
export async function startPage(options: PageOptions): Promise<Page> {
  const { app, addRefused, broken, stop } = createDeliveriesApp(options);
  try {
    const { url, close } = await serveWeb({ apps: [app], warn: options.context.warn });
    return { url, addRefused, broken, close: async () => void (await Promise.all([close(), stop()])) };
  } catch (error) {
    await stop();
    throw error;
  }
}
