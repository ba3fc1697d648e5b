import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { normalizeAddress } from '../../api/address.ts';
import { formatCount } from '../../lib/output/format.ts';
import type { LiveEntry } from '../serve.ts';
import type { WalletFacts, WalletState, WalletText, WalletTrouble } from '../wallet.ts';
import { type Connection, listenLive, postJson } from './page-api.ts';
import {
  type ConnectedWallet,
  describeTrouble,
  type PageWallet,
  WalletChoice,
  watchEvmWallets,
  watchSolanaWallets,
} from './page-wallet.tsx';
import { Alert, CopyButton, mountPage, Text } from './text.tsx';

function WalletPage() {
  const [facts, setFacts] = useState<WalletFacts>();
  const [state, setState] = useState<WalletState>();
  const [wallets, setWallets] = useState<readonly PageWallet[]>([]);
  const [connected, setConnected] = useState<ConnectedWallet>();
  const [account, setAccount] = useState('');
  const [{ state: connection }, setConnection] = useState<Connection>({ state: 'connecting' });
  const [isSigning, setSigning] = useState(false);
  const [error, setError] = useState('');
  const latest = useRef<WalletState>();

  useEffect(() => {
    const take = (next: WalletState) => {
      latest.current = next;
      setState(next);
      if (next.end === null) return;
      stop();
      document.title = next.end.ok ? 'Signed · sotra' : 'Not signed · sotra';
    };
    const onEntries = (entries: readonly LiveEntry[]) => {
      for (const { kind, data } of entries) {
        if (kind === 'load') setFacts(data as WalletFacts);
        take(kind === 'load' ? (data as WalletFacts).state : (data as WalletState));
      }
    };
    const stop = listenLive('wallet/live', onEntries, setConnection);
    return stop;
  }, []);
  useEffect(() => {
    if (facts === undefined) return;
    const watch = facts.family === 'evm' ? watchEvmWallets : watchSolanaWallets;
    watch(setWallets);
  }, [facts?.family]);

  const fail = (thrown: Error) => setError(thrown.message);
  /** A problem that the user can fix is reported to the command; anything else ends it. */
  const tell = (trouble: WalletTrouble) => {
    if (latest.current?.end !== null) return;
    setError(trouble.kind === 'problem' ? trouble.text : '');
    postJson('wallet/trouble', trouble).catch(fail);
  };
  const sign = async (wallet: PageWallet) => {
    const asked = state?.asked;
    const text = facts?.texts[asked?.index ?? -1];
    if (!asked || text === undefined) return;
    try {
      const signature = await wallet.sign(account, new TextEncoder().encode(text.message));
      // The command has ended or asks for another text.
      if (latest.current?.asked?.id !== asked.id) return;
      await postJson('wallet/signature', { id: asked.id, signature }).catch(fail);
    } catch (thrown) {
      setSigning(false);
      tell(describeTrouble(thrown));
    }
  };
  useEffect(() => {
    if (isSigning && connected !== undefined) void sign(connected.wallet);
  }, [isSigning, state?.asked?.id]);

  const start = () => {
    setError('');
    postJson('wallet/account', { address: account }).then(() => setSigning(true), fail);
  };
  if (facts === undefined || state === undefined) return <p class="empty">{error || 'Connecting'}</p>;
  const count = facts.texts.length;
  const isOver = state.end !== null;
  const wanted = facts.signer ?? state.account;
  return (
    <div>
      <header>
        <h1>
          sotra <span>wallet</span>
        </h1>
        <p class="where">
          {facts.destination === null ? 'Nothing is sent: the command gets the signature.' : 'Comments go to '}
          {facts.destination !== null && <Text text={facts.destination} />}
        </p>
        <p class={`state ${state.end === null ? connection : state.end.ok ? 'live' : 'lost'}`} role="status">
          {isOver ? 'Ended' : { connecting: 'Connecting', live: 'Connected', lost: 'Not connected' }[connection]}
        </p>
      </header>
      <main class="signing">
        <section aria-label="Texts">
          <h2>
            {facts.purpose === 'post' ? 'Sign and post' : 'Sign'} {count === 1 ? 'a comment' : `${count} comments`} for{' '}
            <Text text={facts.serviceName} />
          </h2>
          {facts.texts.map((text, index) => (
            <TextCard
              key={text.line}
              text={text}
              title={count === 1 ? 'The exact text' : `Text ${index + 1} of ${count}, line ${text.line}`}
              outcome={state.outcomes[index] ?? (state.asked?.index === index ? 'is to be signed now' : null)}
            />
          ))}
        </section>
        <section class="panel" aria-label="Wallet">
          {state.end !== null && (
            <>
              <Text as="p" class={state.end.ok ? 'result' : 'result failed'} role="alert" text={state.end.text} />
              <p>You can close this page.</p>
            </>
          )}
          {!isOver && connection === 'lost' && (
            <p class="result failed" role="alert">
              Not connected: the sotra command has ended, or this page is from an earlier run. Nothing more is signed
              here.
            </p>
          )}
          {!isOver && (
            <>
              <WalletChoice
                family={facts.family}
                wallets={wallets}
                wanted={wanted}
                isDisabled={isSigning}
                connected={connected}
                account={account}
                onConnected={(next) => {
                  const { accounts } = next;
                  setError('');
                  setConnected(next);
                  const same = accounts.find((each) => normalizeAddress(each) === normalizeAddress(wanted ?? ''));
                  setAccount(same ?? (wanted === null ? (accounts[0] ?? '') : ''));
                }}
                onAccount={setAccount}
                onTrouble={(trouble) => tell({ ...trouble, kind: 'problem' })}
              />
              <div class="actions">
                <button
                  type="button"
                  class="primary"
                  disabled={account === '' || isSigning || connection !== 'live'}
                  onClick={start}
                >
                  Sign
                </button>
                <button type="button" onClick={() => tell({ kind: 'cancelled', text: '' })}>
                  Cancel
                </button>
                <p role="status">
                  {isSigning &&
                    state.asked !== null &&
                    `Confirm in your wallet: text ${state.asked.index + 1} of ${count}.`}
                  {!isSigning && state.account !== null && 'Another page is signing. Press Sign to continue here.'}
                </p>
              </div>
            </>
          )}
          <Alert text={error} />
          <p class="muted">
            The wallet is asked for its accounts and for signatures over these texts, and for nothing else: no
            transaction, no other network. sotra checks each signature before it is used.
          </p>
        </section>
      </main>
    </div>
  );
}

mountPage(<WalletPage />);

interface TextCardProps {
  text: WalletText;
  outcome: string | null;
  title: string;
}

/** A text to be signed, byte for byte, and what became of it. */
export function TextCard({ text, outcome, title }: TextCardProps) {
  // Of many texts only those are drawn again whose outcome changed.
  return useMemo(
    () => (
      <article class="card" aria-label={title}>
        <h3>
          {title} {outcome !== null && <OutcomeText outcome={outcome} />}
        </h3>
        <TextBody text={text} title={title} />
      </article>
    ),
    [text, outcome, title],
  );
}

function TextBody({ text, title }: { text: WalletText; title: string }) {
  const { message, commentText, characters, bytes, warnings, commands } = text;
  const fields = splitTextLines(message.slice(0, message.length - commentText.length));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must too */}
      <section class="lines message" aria-label={`Text that is signed: ${title}`} tabIndex={0}>
        {fields.slice(0, -1).map((line, index) => (
          <Line key={index} line={line} isLast={false} />
        ))}
        <div class="comment">
          <Line line={fields.at(-1) ?? ''} isLast={false} />
          <div>
            {splitTextLines(commentText).map((line, index, lines) => (
              <Line key={index} line={line} isLast={index === lines.length - 1} />
            ))}
          </div>
        </div>
      </section>
      {warnings.map((warning) => (
        <Text as="p" key={warning} class="warning" text={warning} />
      ))}
      <p class="muted">
        {formatCount(characters)} characters of comment, {formatCount(bytes)} bytes in all
      </p>
      <details>
        <summary>Commands</summary>
        <ul class="commands">
          {commands.map(({ name, line }) => (
            <li key={name}>
              <span class="name">{name}</span>
              <Text as="code" text={line} />
              <CopyButton text={line} what={name} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function OutcomeText({ outcome }: { outcome: string }) {
  const isRefused = outcome.startsWith('refused');
  return <Text as="span" class={isRefused ? 'status refused' : 'status forwarded'} text={outcome} />;
}

/** Each with its line end. */
function splitTextLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** A line end is shown as LF and the end of the text as END, so that spaces before them are seen. */
function Line({ line, isLast }: { line: string; isLast: boolean }) {
  const hasEnd = line.endsWith('\n');
  return (
    <div>
      <Text text={hasEnd ? line.slice(0, -1) : line} />
      {hasEnd && <span class="end">LF</span>}
      {isLast && <span class="end">END</span>}
    </div>
  );
}
