import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { writeReadyFiles } from '../../files/durable-file.ts';
import { untilAborted } from '../../pages/live-log.ts';
import { type ServedPages, serveWeb } from '../../pages/serve.ts';
import { createOwnServiceApp } from '../../pages/service-app.ts';
import { showAddress } from '../../pages/show-address.ts';
import type { RefusedRequest } from '../listener.ts';
import { withInbox } from '../open-inbox.ts';
import type { UiInput } from '../params.ts';
import { createDeliveriesApp, type PageOptions } from './deliveries-app.ts';
import { readNamedSecrets } from './verification.ts';

export interface Page extends ServedPages {
  addRefused: (request: RefusedRequest) => void;
  /** Rejects where the inbox cannot be read any more. */
  broken: Promise<never>;
}

/** Serves the page of deliveries, and where a service is configured that of the service, to which it links. Errors: `config`. */
export async function startPage(options: PageOptions): Promise<Page> {
  const { context } = options;
  const service = await context.service().catch(() => undefined);
  const linked = service?.apiKey ? createOwnServiceApp(service, context) : undefined;
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

/** Shows a store on a page until Ctrl-C or a signal. Errors: `not-found` where nothing is stored; those of `withInbox`. */
export async function showPage(input: UiInput, context: Context): Promise<Result> {
  const { world, note } = context;
  const secrets = readNamedSecrets(input.secretFile ?? [], context);
  const none = (): Result => {
    throw new SotraError('not-found', 'no delivery is stored yet', {
      hint: 'sotra webhook listen --ui receives them and shows them.',
    });
  };
  return withInbox<Result>(input, context, none, async (inbox) => {
    context.stream();
    const options = { inbox, place: input, secrets, toleranceMs: undefined, targets: [], listensOn: null, context };
    const page = await startPage(options);
    let removeReadyFile = () => {};
    try {
      removeReadyFile = writeReadyFiles([input.readyFile], { ui: page.url, pid: world.pid });
      note(`Shows what ${inbox.name} holds. Ctrl-C stops it.`);
      await showAddress(page, input, context);
      await Promise.race([untilAborted(world.signal), page.broken]);
    } finally {
      await page.close();
      removeReadyFile();
    }
    return { kind: 'none' };
  });
}
