import { castRows } from './cast.ts';
import { evmAddress, solanaAddress } from './ids.ts';
import type { Person } from './person.ts';

/** A person with what the world around them needs: a key for seeds, wallets by family, and their names in the two apps. */
export interface Member {
  key: string;
  person: Person;
  evm: string[];
  solana: string[];
  names: { a?: string; b?: string };
}

/**
 * Gives everyone of the generated world in the order of the cast table, traders and readers. Nobody is real: handles are
 * invented, Farcaster ids lie above those given out, pictures point to a reserved domain.
 */
export function demoMembers(): Member[] {
  return castRows.map((row) => {
    const { key, wallets, name, names, tracking, isNSFW, picture, ...metadata } = row;
    const families = [...wallets];
    const wallet = (family: string): string[] =>
      families.flatMap((letter, place) => {
        if (letter !== family) return [];
        return letter === 'e' ? evmAddress(`${key} ${place}`) : solanaAddress(`${key} ${place}`);
      });
    const evm = wallet('e');
    const solana = wallet('s');
    const images = pictureOf(name === null || picture === false ? null : key);
    const person: Person = {
      addresses: [...evm, ...solana],
      name,
      images,
      metadata,
      isNSFW: isNSFW ?? false,
      tracking: tracking ?? 'active',
    };
    return { key, person, evm, solana, names: names ?? {} };
  });
}

function pictureOf(key: string | null): Person['images'] {
  if (key === null) return { raw: null, xs: null, sm: null };
  const base = `https://pictures.sotra.example/${key}`;
  return { raw: `${base}.jpg`, xs: `${base}-75.jpg`, sm: `${base}-300.jpg` };
}
