import type { ChainFamily } from '../../api/chain.ts';
import { list } from '../../api/comment.ts';
import type { TextFields, TextForm } from '../../api/signed-text.ts';
import { curlLine } from '../../client/preview.ts';
import { command, flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Signer } from '../../keys/signer.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import { servePage } from '../../pages/serve.ts';
import { type PageInput, showAddress } from '../../pages/show-address.ts';
import type { ShownCommand, WalletFacts, WalletText } from '../../pages/wallet.ts';
import { previewText } from './preview.ts';
import type { CommentLine } from './read-comment.ts';
import { createWalletApp } from './wallet-app.ts';

/** What is signed in the browser, and why. */
export interface BrowserSigning {
  lines: readonly Pick<CommentLine, 'line' | 'fields'>[];
  form: TextForm;
  family: ChainFamily;
  purpose: WalletFacts['purpose'];
  input: PageInput & { signer?: string | undefined };
}

/** A browser wallet. It signs only texts that its page shows. */
export interface BrowserWallet extends Signer {
  /** Shows the outcome of a text on the page. */
  show: (line: number, outcome: string) => void;
  /** Shows how it ended on the page, and stops serving it. */
  close: (thrown?: unknown) => Promise<void>;
}

const defaultWaitMs = 600_000;
/** The user confirms each by hand. */
const maxTexts = 200;

/**
 * Serves the page and resolves when the user has chosen an account. Errors: `usage` for too many texts; `signing-key`, `wait-timeout` and
 * `interrupted`, here and from `sign`, if the user refused, did nothing or left.
 */
export async function openBrowserWallet(signing: BrowserSigning, context: Context): Promise<BrowserWallet> {
  const { lines, input } = signing;
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
    removeReadyFile = writeReadyFiles([input.readyFile], { ui: server.url, pid: io.pid });
    await showAddress(server, input, context);
    note(`Waiting for your wallet on the page, ${waitMs / 1000} s a step. Press Ctrl-C to stop.`);
    const address = await page.account();
    note(`The wallet signs as ${address}.`);
    return { address, sign: page.sign, wipe: () => undefined, show: page.show, close };
  } catch (thrown) {
    await close(thrown);
    throw thrown;
  }
}

/** Calls `act` with a browser wallet. Errors: those of `openBrowserWallet` and of `act`. */
export async function signInBrowser<T>(
  signing: BrowserSigning,
  context: Context,
  act: (wallet: BrowserWallet) => Promise<T>,
): Promise<T> {
  const wallet = await openBrowserWallet(signing, context);
  try {
    const made = await act(wallet);
    await wallet.close();
    return made;
  } catch (thrown) {
    await wallet.close(thrown);
    throw thrown;
  }
}

async function readWalletFacts(
  { lines, form, family, purpose, input }: BrowserSigning,
  context: Context,
): Promise<Omit<WalletFacts, 'state'>> {
  const service = purpose === 'sign' ? undefined : await context.config.service();
  const isSandbox = service?.kind === 'sandbox';
  return {
    purpose,
    serviceName: form.serviceName,
    destination: service === undefined ? null : isSandbox ? 'the sandbox' : new URL(service.baseUrl).origin,
    family,
    signer: input.signer ?? null,
    texts: await Promise.all(
      lines.map(async ({ line, fields }) => {
        const curl = purpose === 'sign' || isSandbox ? [] : await writeCurl(fields, context);
        const text = makeText(line, fields, form, isSandbox);
        return { ...text, commands: [...text.commands, ...curl] };
      }),
    ),
  };
}

function makeText(line: number, fields: TextFields, form: TextForm, isSandbox: boolean): WalletText {
  const { layout: _, serviceName: __, ...shown } = previewText(fields, form);
  const bytes = new TextEncoder().encode(shown.message).length;
  return { line, ...shown, bytes, commands: commandsFor(fields, form, isSandbox) };
}

/** The request for the comments on a swap. */
async function writeCurl({ chain, transactionHash }: TextFields, context: Context): Promise<ShownCommand[]> {
  const request = await context.client.previewCall(list, { hashes: [transactionHash], chain });
  return [{ name: 'As curl', line: curlLine(request).trim() }];
}

function commandsFor(fields: TextFields, { serviceName, layout }: TextForm, isSandbox: boolean): ShownCommand[] {
  const { chain, tokenAddress, transactionHash, commentText } = fields;
  const sotra = isSandbox ? 'sotra --sandbox' : 'sotra';
  const swap = command`--chain ${chain} --tx ${transactionHash} --token ${tokenAddress}`;
  const form = command`--service-name ${serviceName} --layout ${layout}`;
  return [
    {
      name: 'This text',
      line: `${sotra} comment sign ${swap} ${shellLine(flagWords('--text', commentText))} ${form} --preview`,
    },
    { name: 'Comments on it', line: `${sotra} ${command`comment list ${transactionHash} --chain ${chain}`}` },
  ];
}
