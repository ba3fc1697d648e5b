import { normalizeAddress } from '../../api/address.ts';
import type { LiveEntry } from '../live-log.ts';
import type { WalletFacts, WalletState, WalletTrouble } from '../wallet.ts';
import { type Connection, listenLive, postJson } from './page-api.ts';
import { describeTrouble, type PageWallet, watchEvmWallets, watchSolanaWallets } from './page-wallet.ts';
import { useEffect, useRef, useState } from './preact.ts';
import { mountPage } from './start.tsx';
import { Alert, Text } from './text.tsx';
import { type ConnectedWallet, WalletChoice } from './wallet-choice.tsx';
import { TextCard } from './wallet-text.tsx';

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
              Not connected: the sotra command has ended, or this page is of an earlier run. Nothing more is signed
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
                  {!isSigning && state.account !== null && 'Another page signs, or press Sign to continue here.'}
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
