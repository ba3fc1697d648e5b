import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before the program: where it is about to make its sandbox database, it waits in the folder MEET until MEET_COUNT processes have come.
const { MEET = '', MEET_COUNT = '' } = process.env;
const { openSync } = fs;

fs.openSync = (path, ...rest) => {
  if (String(path).endsWith('/sandbox.db')) {
    fs.writeFileSync(`${MEET}/${process.pid}`, '');
    while (fs.readdirSync(MEET).length < Number(MEET_COUNT));
  }
  return openSync(path, ...rest);
};
syncBuiltinESMExports();
