import { chains } from '../../model/chain.ts';
import type { Card } from '../../model/position.ts';
import type { Profile } from '../../model/profile.ts';
import { formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { type Field, FilterBar, Input } from './form.tsx';
import { useFrame } from './frame.ts';
import { useEffect, useState } from './preact.ts';
import { type Route, setQuery } from './route.ts';
import { Positions, Section } from './service-parts.tsx';

const noFilters = { chain: 'all', min: '' };
const worths = [10, 100, 500, 1000].map((usd) => [String(usd), `${formatUsd(usd)} or more`] as const);
const fields: readonly Field<keyof typeof noFilters>[] = [
  ['chain', 'Chain', ['all', ...chains]],
  ['min', 'With a trade of', [['', 'any value'], ...worths]],
];

/** What those whom a user follows trade, as it happens. */
export function Feed({ route }: { route: Route }) {
  const suggested = useFollower(route.query['user'] === undefined);
  const filters = { ...noFilters, user: suggested, ...route.query };
  const { user, chain, min } = filters;
  const { examples } = useFrame().facts;
  const input = { addresses: [user], chains: [chain], limit: 100, ...(min !== '' && { minTradeUsd: Number(min) }) };
  const { data, ...asked } = useCall<{ items: Card[] }>('feed home', user === '' ? undefined : input);
  return (
    <Section title="Feed">
      <FilterBar fields={fields} values={filters} onChange={(values) => setQuery(route, values, noFilters)}>
        <User value={user} onChange={(next) => setQuery(route, { user: next })} />
      </FilterBar>
      {user !== '' && (
        <Positions
          title="Newest first"
          asked={{ ...asked, data: data?.items }}
          empty="Nothing: those whom this user follows have not traded this. To follow others:"
          line={examples['follow add']}
        />
      )}
    </Section>
  );
}

/** Somebody who follows the best trader, so that there is something to see. */
function useFollower(isWanted: boolean): string {
  const best = useCall<{ traders: { profile: Profile }[] }>(
    'leaderboard list',
    isWanted ? { limit: 1 } : undefined,
    true,
  );
  const identifier = best.data?.traders[0]?.profile.addresses[0];
  const input = identifier && { identifier, limit: 1 };
  const followers = useCall<{ items: Profile[] }>('profile followers', input || undefined, true);
  return followers.data?.items[0]?.addresses[0] ?? '';
}

function User({ value, onChange }: { value: string; onChange: (user: string) => void }) {
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  return (
    <Input
      label="Feed of"
      type="search"
      placeholder="wallet, profile id or ext:…"
      value={typed}
      onType={type}
      onChange={() => onChange(typed.trim())}
    />
  );
}
