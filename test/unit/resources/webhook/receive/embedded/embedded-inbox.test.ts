import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../../../src/resources/webhook/receive/inbox.ts';
import { temporaryFolder } from '../../../../../support/harness.ts';
import { openInboxOf } from '../../../../../support/inbox.ts';
import { inboxCases } from '../../../../../support/inbox-cases.ts';

test.each(inboxCases)('$name', async ({ run }) => {
  const folder = join(temporaryFolder(), 'store');
  const opened: Inbox[] = [];
  onTestFinished(async () => {
    for (const inbox of opened.reverse()) await inbox.close();
  });
  await run(async () => {
    // One process at a time listens: the others read.
    const inbox = await openInboxOf(folder, opened.length === 0);
    const { close } = inbox;
    let closing: Promise<void> | undefined;
    inbox.close = () => {
      closing ??= close();
      return closing;
    };
    opened.push(inbox);
    return inbox;
  });
});
