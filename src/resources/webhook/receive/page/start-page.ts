import { serveWeb } from '../../../../web/serve.ts';
import { createOwnServiceApp } from '../../../../web/service-app.ts';
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

/** Serves the page of deliveries, and where a service is configured that of the service, to which it links. Errors: `config`. */
export async function startPage(options: PageOptions): Promise<Page> {
  const { context } = options;
  const service = await context.service().catch(() => undefined);
  const linked = service?.apiKey ? createOwnServiceApp(service, context) : undefined;
  const { app, addRefused, broken, stop } = createDeliveriesApp({ ...options, hasService: linked !== undefined });
  const end = () => Promise.all([stop(), linked?.close()]);
  try {
    const { url, close } = await serveWeb({ apps: [app, ...(linked ? [linked.app] : [])], warn: context.warn });
    return { url, addRefused, broken, close: async () => void (await Promise.all([close(), end()])) };
  } catch (error) {
    await end();
    throw error;
  }
}
