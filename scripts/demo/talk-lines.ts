import type { MadeTrade } from './made-trades.ts';

/** What somebody says about a trade. `{symbol}`, `{price}`, `{gain}`, `{cap}`, `{chain}`, `{leverage}` are filled in. */
export interface Line {
  part: MadeTrade['part'];
  text: string;
  /** Only this person says it. */
  by?: string;
  /** Only of this token. */
  symbol?: string;
}

const enter: readonly string[] = [
  'Starter position in {symbol}. Will add if it holds above {price} through the weekend.',
  'been watching {symbol} for two weeks, volume finally woke up. in.',
  "{cap} market cap and the team still ships every Friday. I'm fine being early.",
  'Small buy, mostly so that I keep paying attention to it 👀',
  'gm. bought {symbol} before coffee, which is usually a mistake',
  "Thesis, short version:\n1. fees are up three months in a row\n2. unlocks are behind us\n3. nobody talks about it\n\nI'm out if it loses 15% from {price}.",
  "If {symbol} goes to zero from here I'll print this comment and frame it.",
  'Rotating the stable pile into {symbol}. Slowly, no leverage, no heroics.',
  "Liquidity doubled since Monday, the spread is tight, I'll take the trade.",
  'Bought the retest of {price}. The first one failed, the second usually tells the truth.',
  'ok fine. you all win. bought some {symbol} 🫡',
  "Half size, because I've been wrong three times this week.",
  'My {symbol} bag is now officially bigger than my gas bag on {chain} 😄',
  'Book looked thin above, so I paid up. ¯\\_(ツ)_/¯',
  "Long-term wallet. Please don't read timing into this one.",
  'Third entry this month. The first two paid for it.',
];

const add: readonly string[] = [
  'second clip in {symbol}, the plan was three',
  "Buying every few days and not looking at the chart in between. So far it's the only thing that works for me.",
  '+1 🧱',
  'DCA day. Nothing to see here.',
  'last add, promise',
];

const dip: readonly string[] = [
  'Bought more on the dip. The dip kept dipping. Standard procedure 📉',
  'Adding. Average is getting better, conviction about the same.',
  'Topped up {symbol}: same thesis, lower price.',
];

const trim: readonly string[] = [
  'Took some {symbol} off into strength. Still holding most of it.',
  'Paid for the trip, the rest rides 🏖️',
  'Trimming. I never regret the first third.',
  'risk off a bit before the weekend, funding everywhere is silly',
  "Selling into the green candle because future me always asks why I didn't.",
];

const win: readonly string[] = [
  'Closed {symbol} at {gain}. Followed the plan to the letter for once ✅',
  "{gain} and I'm out. That wick looked like exhaustion.",
  "Out. It can go higher without me, I've had my share.",
  'Sold everything into that spike. Thanks for the liquidity 🙏',
  "That's a wrap on this one: {gain}.\n\nWhat worked: waiting.\nWhat didn't: checking every ten minutes.",
  "sold too early again, I'm sure of it. {gain} though.",
  'Target hit, the order filled while I was asleep 😴',
  'Done here. {symbol} was the cleanest chart on {chain} this month.',
];

const loss: readonly string[] = [
  'Stopped out at {gain}. Rules are rules.',
  'Wrong on this one. {gain}, lesson filed, moving on.',
  "ouch. {gain}. I averaged down when I said I wouldn't.",
  'Cut it. The reason I bought {symbol} is gone, so the position goes too.',
  'Tuition paid: {gain} 🎓',
  'Taking the loss now so that I can stop thinking about it on the train.',
];

const flip: readonly string[] = [
  'In and out, {gain}, coffee still warm ☕',
  'quick scalp, nothing personal {symbol}',
  'Spread was wider than it should have been, somebody had to.',
];

const gift: readonly string[] = [
  'Airdrop → sold. No hard feelings, I never asked for it.',
  'Selling what the quest paid out. Free {symbol} is still {symbol}.',
];

const long: readonly string[] = [
  "Long {symbol} {leverage}x, stop under yesterday's low.",
  'Funding is negative and the whole timeline is bearish. Taking the other side of that 🐂',
  "{leverage}x looks brave, the size isn't. The margin is what I can lose.",
];

const short: readonly string[] = [
  'Short {symbol} into resistance, {leverage}x. Out if it closes above.',
  'hedge, not a view. my spot bags are heavy enough 🙃',
  'Fading this one: {price} has been turned away three times, I only need it to happen once more.',
];

const perpWin: readonly string[] = ['Closed the {symbol} trade, {gain} before leverage. Funding paid for lunch 🥪'];
const perpLoss: readonly string[] = ['Closed red, {gain} before leverage. The idea was fine, the size was not.'];

const personal: readonly Line[] = [
  { part: 'enter', by: 'mikan', text: '少しだけ買った。しばらく放置します 🍊' },
  { part: 'win', by: 'mikan', text: '勝ち逃げします。{gain}、ごちそうさまでした。' },
  { part: 'enter', by: 'rui', text: 'Comprei um pouco de {symbol} 🌊 vamos ver no que dá' },
  { part: 'dip', by: 'lukasz', text: 'Dokupione. Mam nadzieję, że tym razem to naprawdę dołek 😅' },
  { part: 'enter', by: 'ines', text: "Petite ligne sur {symbol}, le carnet est bien plus propre qu'hier." },
  { part: 'add', by: 'grandma', text: 'My grandson says this is the cat one. I like the cat 🐈', symbol: 'KEYCAT' },
];

const texts = { enter, add, dip, trim, win, loss, flip, gift, long, short, 'perp-win': perpWin, 'perp-loss': perpLoss };

/** Every line once, those that only one person says first. */
export const lines: readonly Line[] = [
  ...personal,
  ...Object.entries(texts).flatMap(([part, list]) => list.map((text) => ({ part: part as Line['part'], text }))),
];

/** What others answer to a comment on a trade that opened something, that took profit, or that took a loss. */
export const answers: Readonly<Record<'opening' | 'closing' | 'losing', readonly string[]>> = {
  opening: [
    'following you into this one, small',
    'What makes you think volume stays?',
    'Same entry here, within a cent 🤝',
    'I sold you these 😂',
    'brave. respect.',
    'Where is your stop?',
    'Been in since last week, welcome.',
    'Not convinced, but I like that you write down why.',
    'bookmarked, let us see in a month',
    'Thanks for posting before and not after.',
    'Somebody ate that wall in one go, was that you?',
    'How big are you going on this?',
    'I passed on it twice. Third time I read your reasons first.',
    'you and me and the market maker',
    'Good luck. Honestly.',
    '🫡',
  ],
  closing: [
    'well played',
    'Clean exit 👏',
    'You always leave one candle too early and it always works.',
    'Same. Took mine off an hour ago.',
    'Still holding, wish me luck.',
    'and the re-entry? asking for a friend',
    'this is why I follow you',
    'Noted: waiting works.',
    'nicely done 🙌',
    'What are you rotating into?',
    'I copied the buy and forgot to copy the sell 🙃',
    'Teach me to be this boring.',
  ],
  losing: [
    'Respect for showing the reds too.',
    'It happens. Next.',
    'Same one got me, if that helps.',
    'Better now than ten percent lower.',
    'I would have held and regretted it.',
    'The stop did its job 🤝',
  ],
};
