import { list } from '../../api/comment.ts';
import type { TextFields, TextForm } from '../../api/signed-text.ts';
import { curlLine } from '../../client/preview.ts';
import { command, flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import { servePage } from '../../pages/serve.ts';
import { showAddress } from '../../pages/show-address.ts';
import type { ShownCommand, WalletFacts } from '../../pages/wallet.ts';
import { previewText } from './preview.ts';
import { nameDestination } from './send-comment.ts';
import { makeSignedComment } from './signed.ts';
import type { CommentSigner, Signing } from './signing.ts';
import { createWalletApp } from './wallet-app.ts';

const defaultWaitMs = 600_000;
/** The user confirms each by hand. */
const maxTexts = 200;

/**
 * Serves the page and resolves when the user has chosen an account; only texts that the page shows can be signed. Errors: `usage` for too many
 * texts; `signing-key`, `wait-timeout` and `interrupted`, here and from `sign`, if the user refused, did nothing or left.
 */
export async function openBrowserWallet(signing: Signing, context: Context): Promise<CommentSigner> {
  const { lines, form, way } = signing;
  const { io, note, warn, options } = context;
  if (lines.length > maxTexts)
    throw usageError(
      `--browser signs at most ${maxTexts} comments; this is ${lines.length}`,
      'Split the file, or sign with a key.',
    );
  const facts = await readWalletFacts(signing, context);
  const waitMs = options.typedTimeoutMs ?? defaultWaitMs;
  const page = createWalletApp({ facts, waitMs, io, note });
  const server = await servePage(page.app, warn);
  let removeReadyFile = () => {};
  const close = async (thrown?: unknown) => {
    await page.end(thrown);
    await server.close();
    removeReadyFile();
  };
  try {
    removeReadyFile = writeReadyFiles([way.readyFile], { ui: server.url, pid: io.pid });
    await showAddress(server, way, context);
    note(`Waiting for your wallet on the page, ${waitMs / 1000} s a step. Press Ctrl-C to stop.`);
    const address = await page.account();
    note(`The wallet signs as ${address}.`);
    const sign = (fields: TextFields) => makeSignedComment(fields, form, { address, sign: page.sign });
    return { address, sign, show: page.show, close };
  } catch (thrown) {
    await close(thrown);
    throw thrown;
  }
}

async function readWalletFacts(
  { lines, form, family, purpose, way }: Signing,
  context: Context,
): Promise<Omit<WalletFacts, 'state'>> {
  const service = purpose === 'sign' ? undefined : await context.config.service();
  const isSandbox = service?.kind === 'sandbox';
  return {
    purpose,
    serviceName: form.serviceName,
    destination: service === undefined ? null : nameDestination(service),
    family,
    signer: way.signer ?? null,
    texts: await Promise.all(
      lines.map(async ({ line, fields }) => {
        const { layout: _, serviceName: __, ...shown } = previewText(fields, form);
        const curl = purpose === 'sign' || isSandbox ? [] : [await writeCurl(fields, context)];
        const commands = [...writeCommands(fields, form, isSandbox), ...curl];
        return { line, ...shown, bytes: Buffer.byteLength(shown.message), commands };
      }),
    ),
  };
}

/** The request for the comments on a swap. */
async function writeCurl({ chain, transactionHash }: TextFields, context: Context): Promise<ShownCommand> {
  const request = await context.client.previewCall(list, { hashes: [transactionHash], chain });
  return { name: 'As curl', line: curlLine(request).trim() };
}

function writeCommands(fields: TextFields, { serviceName, layout }: TextForm, isSandbox: boolean): ShownCommand[] {
  const { chain, tokenAddress, transactionHash, commentText } = fields;
  const sotra = isSandbox ? 'sotra --sandbox' : 'sotra';
  const swap = command`--chain ${chain} --tx ${transactionHash} --token ${tokenAddress}`;
  const form = command`--service-name ${serviceName} --layout ${layout}`;
  const text = shellLine(flagWords('--text', commentText));
  return [
    { name: 'This text', line: `${sotra} comment sign ${swap} ${text} ${form} --dry-run` },
    { name: 'Comments on it', line: `${sotra} ${command`comment list ${transactionHash} --chain ${chain}`}` },
  ];
}
