import type { Result } from '../../../../cli/command.ts';
import type { Context } from '../../../../context.ts';
import { SotraError } from '../../../../errors.ts';
import { writeReadyFiles } from '../../../../files/ready-file.ts';
import { type PageInput, showAddress } from '../../../../web/show-address.ts';
import { type InboxPlace, withInbox } from '../open-inbox.ts';
import { stopOf } from '../run-forward.ts';
import { readNamedSecrets } from './named-secrets.ts';
import { startPage } from './start-page.ts';

interface UiInput extends InboxPlace, PageInput {
  secretFile?: readonly string[] | undefined;
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
      await showAddress(page.url, input, context);
      await Promise.race([stopOf(world.signal), page.broken]);
    } finally {
      await page.close();
      removeReadyFile();
    }
    return { kind: 'none' };
  });
}
