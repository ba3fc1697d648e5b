import { isObject } from '../../api/json.ts';

const hidden = '(hidden: NSFW)';

/** An answer without the names and handles that the service flags as NSFW. Section "Profile": clients decide. */
export function withoutFlagged<T>(answer: T): T {
  return hideFlagged(answer) as T;
}

function hideFlagged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideFlagged);
  if (!isObject(value)) return value;
  const shown: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hideFlagged(inner)]),
  );
  const { actor, metadata, isNSFW } = shown;
  if (isFlagged(shown) && 'name' in shown) shown['name'] = hidden;
  if (isFlagged(shown) && isNSFW !== undefined && isObject(metadata)) shown['metadata'] = withoutTexts(metadata);
  // The title of a card is the name of its trader.
  if (isObject(actor) && isFlagged(actor) && 'itemTitle' in shown) shown['itemTitle'] = hidden;
  return shown;
}

function isFlagged({ isNSFW, profile }: Record<string, unknown>): boolean {
  return (isObject(isNSFW) && isNSFW['nsfwText'] === true) || (isObject(profile) && isFlagged(profile));
}

function withoutTexts(handles: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(handles).map(([key, value]) => [key, typeof value === 'string' ? hidden : value]),
  );
}
