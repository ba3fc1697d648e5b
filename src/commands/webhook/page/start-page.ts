import { type ServedPages, serveWeb } from '../../../pages/serve.ts';
import { createOwnServiceApp, type ServiceEndpoints } from '../../../pages/service-app.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { createDeliveriesApp, type PageOptions } from './deliveries-app.ts';

export interface Page extends ServedPages {
  addRefused: (request: RefusedRequest) => void;
  /** Rejects where the inbox cannot be read any more. */
  broken: Promise<never>;
}

/** Serves the page of deliveries, and where a service is configured that of the service, to which it links. Errors: `config`. */
export async function startPage(options: PageOptions, shown: ServiceEndpoints): Promise<Page> {
  const { context } = options;
  const service = await context.config.service().catch(() => undefined);
  const linked = service?.apiKey ? createOwnServiceApp(service, context, shown) : undefined;
  const { app, addRefused, broken, stop } = createDeliveriesApp({ ...options, hasService: linked !== undefined });
  const end = () => Promise.all([stop(), linked?.close()]);
  try {
    const served = await serveWeb({ apps: [app, ...(linked ? [linked.app] : [])], warn: context.warn });
    return { ...served, addRefused, broken, close: async () => void (await Promise.all([served.close(), end()])) };
  } catch (error) {
    await end();
    throw error;
  }
}
