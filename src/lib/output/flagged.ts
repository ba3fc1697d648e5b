import { isObject } from '../../api/json.ts';

const hidden = '(hidden: NSFW)';

/** An answer without the names and handles that the service flags as NSFW; unchanged if nothing is flagged. Section "Profile": clients decide. */
export function withoutFlagged<T>(answer: T): T {
  return hideFlagged(answer) as T;
}

function hideFlagged(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(hideFlagged);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isObject(value) || !isPlain(value)) return value;
  let shown = value;
  const replaceField = (key: string, text: unknown): void => {
    if (shown === value) shown = { ...value };
    shown[key] = text;
  };
  for (const key in value) {
    const inner = hideFlagged(value[key]);
    if (inner !== value[key]) replaceField(key, inner);
  }
  const { actor, metadata } = value;
  if (isFlagged(value)) {
    if ('name' in value) replaceField('name', hidden);
    if (value['isNSFW'] !== undefined && isObject(metadata)) replaceField('metadata', withoutTexts(metadata));
  }
  // The title of a card is the name of its trader.
  if (isObject(actor) && isFlagged(actor) && 'itemTitle' in value) replaceField('itemTitle', hidden);
  return shown;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isFlagged({ isNSFW, profile }: Record<string, unknown>): boolean {
  return (isObject(isNSFW) && isNSFW['nsfwText'] === true) || (isObject(profile) && isFlagged(profile));
}

function withoutTexts(handles: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(handles).map(([key, value]) => [key, typeof value === 'string' ? hidden : value]),
  );
}
