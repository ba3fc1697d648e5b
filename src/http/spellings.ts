/** What stands for a character: as it is, escaped for JSON (quoted any number of times), for an address or for HTML. */
function spellingOf(character: string, before = ''): string {
  const code = character.charCodeAt(0);
  const plain = escapePattern(character);
  const hex = anyCase(code.toString(16));
  const escaped = `${before}${slashes}(?:u(?:0{0,4}${hex}|\\{0{0,6}${hex}\\})|x${hex}|${plain})`;
  const names = namesOf[character] ?? '(?!)';
  const coded = `${percent}${hex}|${entity}(?:#0{0,8}${code}|#[xX]0{0,8}${hex}|${names});?`;
  // The escape is the longer one, but backslashes that each stand for themselves must be left to each other.
  return character === '\\' ? `(?:${plain}|${escaped}|${coded})` : `(?:${escaped}|${coded}|${plain})`;
}

const slashes = '\\\\{1,256}';
const percent = '%(?:25){0,8}';
const entity = '&(?:amp;){0,8}';
const namesOf: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  "'": 'apos',
  '<': 'lt',
  '>': 'gt',
  '/': 'sol',
  '\\': 'bsol',
  '+': 'plus',
  '=': 'equals',
  _: 'lowbar',
  '-': 'hyphen|dash',
  '.': 'period',
  ':': 'colon',
};

const escapeSign = `(?:\\x1b|${slashes}(?:u001[bB]|x1[bB]|e|033)|${percent}1[bB])`;

/**
 * What a reader does not see between two characters: all that is not printed in ASCII, in the same spellings, and what controls a terminal.
 * The counts are there so that time stays linear, whatever stands in a text.
 */
const unseen = `(?:${[
  `(?:${escapeSign}\\]|\\x9d)[^\\x07\\x1b\\x9c]{0,256}?(?:\\x07|\\x9c|${slashes}u0007|${percent}07|${escapeSign}\\\\)`,
  `(?:${escapeSign}|\\x9b)(?:\\[[0-?]{0,64}[ -/]{0,8}[@-~]|[ -/]{0,8}[0-Z\\\\^-~])`,
  '[^\\x1b\\x20-\\x7e]',
  `${slashes}(?:[abefnrtv0]|u(?!00[2-7])[0-9a-fA-F]{4}|u\\{(?!0{0,4}[2-7][0-9a-fA-F]\\})[0-9a-fA-F]{1,6}\\}|x[0189a-fA-F][0-9a-fA-F])`,
  `${percent}(?:[0189a-fA-F][0-9a-fA-F]|7[fF])`,
  `${entity}(?:[a-zA-Z]{2,20}|#(?:1[3-9]\\d|[2-9]\\d\\d|\\d{4,7}|[xX](?:[89a-fA-F][0-9a-fA-F]|[0-9a-fA-F]{3,6})));`,
].join('|')}){0,9}`;

/** Start and end of a piece of text. */
export type Place = readonly [start: number, end: number];

/** Finds one text in others, in every spelling; `fold`: in small and capital letters alike. */
interface Finder {
  /**
   * The places. With `cut` also one that the end of the text breaks off behind eight characters or more. Time: the
   * product of both lengths at most.
   */
  find: (text: string, cut: boolean) => Place[];
}

/** Finds a text of four characters of ASCII or more. */
export function createFinder(wanted: string, fold: boolean): Finder {
  const letters = [...wanted];
  const [first = '', ...others] = letters.slice(0, 3);
  const flags = fold ? 'i' : '';
  // Only at the first of several backslashes, lest each of a million of them be a new beginning.
  const opening = [spellingOf(first, '(?<!\\\\)'), ...others.map((letter) => unseen + spellingOf(letter))].join('');
  const start = new RegExp(opening, `g${flags}`);
  const steps = new Map(letters.map((letter) => [letter, new RegExp(unseen + spellingOf(letter), `y${flags}`)]));
  const rest = letters.slice(3);
  const endOf = (text: string, from: number): { end: number; isWhole: boolean } => {
    let end = from;
    for (const letter of rest) {
      const step = steps.get(letter) as RegExp;
      step.lastIndex = end;
      if (!step.test(text)) return { end, isWhole: false };
      end = step.lastIndex;
    }
    return { end, isWhole: true };
  };
  return {
    find: (text, cut) => {
      const found: Place[] = [];
      start.lastIndex = 0;
      for (let match = start.exec(text); match !== null; match = start.exec(text)) {
        const { end, isWhole } = endOf(text, start.lastIndex);
        if (isWhole) found.push([match.index, end]);
        else if (cut && end - match.index >= 8 && isUnfinished(text, end))
          return [...found, [match.index, text.length]];
        start.lastIndex = isWhole ? end : match.index + 1;
      }
      return found;
    },
  };
}

/** Whether nothing follows but the start of one more escaped character. */
function isUnfinished(text: string, end: number): boolean {
  return text.length - end < 300 && /^(?:\\*(?:u[\da-f{]*|x[\da-f]?)?|%[\da-f]*|&[#\da-z;]*)$/i.test(text.slice(end));
}

/** Digits of hex in small or capital letters. */
function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
