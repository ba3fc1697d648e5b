import { isExternalId, isUuid, isWalletAddress } from '../../model/address.ts';
import type { Profile } from '../../model/profile.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import { shortAddress } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { type Known, useFrame } from './frame.ts';
import { Dialog } from './keys.tsx';
import { onKeys, useId, useState } from './preact.ts';
import { writeHref } from './route.ts';
import { Text } from './text.tsx';

type Found = readonly [href: string, known: Known];

interface FindProps {
  /** Pages, webhooks and what else the page has without showing it. */
  others: readonly Found[];
  onClose: () => void;
}

const maxFound = 12;

/** Finds by a few letters what the page has, and by an address, a UUID or `ext:` what the service has. */
export function Find({ others, onClose }: FindProps) {
  const { known } = useFrame();
  const [typed, type] = useState('');
  const [at, setAt] = useState(0);
  const name = useId();
  const wanted = typed.trim();
  const board = useCall<{ traders: { profile: Profile }[] }>('leaderboard list', { limit: 250 }, true);
  const webhooks = useCall<{ uid: string; destinationUrl: string }[]>('webhook list', {}, true);
  const isIdentifier = isUuid(wanted) || isWalletAddress(wanted) || isExternalId(wanted);
  const asked = useCall<Profile>('profile get', isIdentifier ? { identifier: wanted } : undefined, true);
  const all: readonly Found[] = [
    ...(board.data?.traders ?? []).map(({ profile }) => nameTrader(profile)),
    ...(webhooks.data ?? []).map(nameWebhook),
    ...others,
    ...known,
  ];
  const words = wanted.toLowerCase().split(/\s+/);
  const fits = all.filter(([, each]) => words.every((word) => each.words.includes(word)));
  const isFirst = ([, { title }]: Found) => title.toLowerCase().startsWith(wanted.toLowerCase());
  const found = takeDistinct([
    ...(asked.data === undefined ? [] : [nameTrader(asked.data)]),
    ...fits.filter(isFirst),
    ...fits.filter((each) => !isFirst(each)),
    ...(isIdentifier ? guess(wanted, asked) : []),
  ]);
  const chosen = Math.min(at, found.length - 1);
  const open = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    location.hash = href;
  };
  const onKeyDown = onKeys({
    ArrowDown: () => setAt(Math.min(chosen + 1, found.length - 1)),
    ArrowUp: () => setAt(Math.max(chosen - 1, 0)),
    Enter: () => open(found[chosen]?.[0]),
  });
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Find a trader, a token, a position, a webhook, a request or a page"
        aria-expanded="true"
        aria-controls={name}
        aria-activedescendant={found.length === 0 ? undefined : `${name}-${chosen}`}
        placeholder="A name, an address, a UUID"
        value={typed}
        onInput={(event) => {
          type(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={name} class="found" role="listbox" aria-label="Found">
        {found.map(([href, { kind, title }], index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={href}
            id={`${name}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(href)}
          >
            <Text text={title} />{' '}
            <span class="muted">
              {kind}
              {kind === 'position' && title !== shortAddress(readId(href)) && ` ${shortAddress(readId(href))}`}
            </span>
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {found.length === 0 ? 'Nothing of that name has been shown. An address or a UUID is looked up.' : asked.error}
      </p>
    </Dialog>
  );
}

const readId = (href: string) => decodeURIComponent(href.split('/').at(-1) ?? '');

/** The first, each thing once: a trader was shown by several addresses, of which the profile has all. */
function takeDistinct(found: readonly Found[]): Found[] {
  const kept: Found[] = [];
  for (const [href, named] of found) {
    if (kept.length === maxFound) break;
    const id = readId(href).toLowerCase();
    const isSame = ([other, { kind, words }]: Found) =>
      other === href || (kind === 'trader' && named.kind === 'trader' && words.includes(id));
    if (!kept.some(isSame)) kept.push([href, named]);
  }
  return kept;
}

function nameTrader({ id, name, addresses, metadata }: Profile): Found {
  const { twitterHandle: twitter, farcasterUsername: farcaster, ensName: ens } = metadata;
  const handles = Object.entries({ twitter, farcaster, ens }).flatMap(([where, handle]) =>
    handle ? [`${where}:${handle}`, `@${handle}`] : [],
  );
  const words = [name, id, ...addresses, ...handles].join(' ').toLowerCase();
  return [writeHref('trader', [id]), { kind: 'trader', title: name || shortAddress(addresses[0]), words }];
}

function nameWebhook({ uid, destinationUrl }: { uid: string; destinationUrl: string }): Found {
  const title = hideUrlSecrets(destinationUrl);
  return [writeHref('webhooks', [uid]), { kind: 'webhook', title, words: `${title} ${uid}`.toLowerCase() }];
}

/** What an address, a UUID or `ext:` may be, as long as it is not known whether it is a trader. */
function guess(id: string, asked: { data: unknown; error: string }): Found[] {
  const make = (kind: string, href: string, about = ''): Found => [
    href,
    { kind, title: `${shortAddress(id)}${about}`, words: '' },
  ];
  const isAsked = asked.data === undefined && asked.error === '';
  const trader = isAsked ? [make('trader', writeHref('trader', [id]))] : [];
  if (isUuid(id)) return [make('position', writeHref('position', [id])), ...trader];
  if (!isWalletAddress(id)) return trader;
  const chains = id.startsWith('0x') ? ['base', 'ethereum'] : ['solana'];
  return [...trader, ...chains.map((chain) => make('token', writeHref('token', [chain, id]), ` on ${chain}`))];
}
