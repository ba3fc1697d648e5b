import { chains } from '../../model/chain.ts';
import { readHeld } from '../../model/holding.ts';
import type { Card } from '../../model/position.ts';
import type { Profile } from '../../model/profile.ts';
import { counted, formatAmount, formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { useEffect, useState } from './preact.ts';
import { type Route, setQuery } from './route.ts';
import { Moment, nameCardToken, OpenList, positionHref, Section, Usd } from './service-parts.tsx';
import { Choice, Row, Text } from './text.tsx';

/** What those whom a user follows trade, as it happens. */
export function Feed({ route, version }: { route: Route; version: number }) {
  const suggested = useFollower(route.query['user'] === undefined);
  const { user = suggested, chain = 'all', min = '' } = route.query;
  const set = (key: string) => (value: string) => setQuery(route, { user, [key]: value });
  return (
    <Section title="Feed">
      <search class="filters" aria-label="Filters">
        <User value={user} onChange={set('user')} />
        <Choice label="Chain" value={chain} onChange={set('chain')} options={['all', ...chains]} />
        <Choice
          label="With a trade of"
          value={min}
          onChange={set('min')}
          options={[
            ['', 'any value'],
            ...[10, 100, 500, 1000].map((usd) => [String(usd), `${formatUsd(usd)} or more`] as const),
          ]}
        />
      </search>
      {user !== '' && <Cards {...{ user, chain, min, version }} />}
    </Section>
  );
}

/** Somebody who follows the best trader, so that there is something to see. */
function useFollower(isWanted: boolean): string {
  const best = useCall<{ traders: { profile: Profile }[] }>('leaderboard list', isWanted ? { limit: 1 } : undefined, 0);
  const identifier = best.data?.traders[0]?.profile.addresses[0];
  const input = identifier && { identifier, limit: 1 };
  const followers = useCall<{ items: Profile[] }>('profile followers', input || undefined, 0);
  return followers.data?.items[0]?.addresses[0] ?? '';
}

function User({ value, onChange }: { value: string; onChange: (user: string) => void }) {
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  return (
    <label>
      Feed of
      <input
        type="search"
        placeholder="wallet, profile id or ext:…"
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={() => onChange(typed.trim())}
      />
    </label>
  );
}

interface CardsProps {
  user: string;
  chain: string;
  min: string;
  version: number;
}

function Cards({ user, chain, min, version }: CardsProps) {
  const input = { addresses: [user], chains: [chain], limit: 100, ...(min !== '' && { minTradeUsd: Number(min) }) };
  const { data, error, commands } = useCall<{ items: Card[] }>('feed home', input, version);
  return (
    <Section title="Newest first" error={error} commands={commands}>
      <OpenList
        label="Feed"
        items={error === '' ? data?.items : []}
        keyOf={({ itemId }) => itemId}
        hrefFor={positionHref}
        empty="Nothing: those whom this user follows have not traded this."
        render={renderCard}
      />
    </Section>
  );
}

function renderCard(card: Card) {
  const { positionStats: stats, trades } = card.metadata;
  return (
    <Row
      title={card.itemTitle}
      after={<Moment atSec={card.cardLatestTradeAt ?? card.timestamp} />}
      about={
        <>
          <Text text={nameCardToken(card)} />: holds {formatAmount(readHeld(card.metadata).amount)}, realized{' '}
          <Usd value={stats.realizedGainsUSD} signed />, {counted(trades.length, 'trade')}
        </>
      }
    />
  );
}
