import { existsSync, writeFileSync } from 'node:fs';

// Loaded before the program: from when BLOCK_FILE exists, it holds the longest time in milliseconds that the event loop was kept busy at a
// stretch. What the machine did elsewhere meanwhile does not count: it is processor time.
const { BLOCK_FILE = '' } = process.env;
const everyMs = 5;
const busyMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let [longest, last] = [-1, { wall: 0, busy: 0 }];
setInterval(() => {
  const now = { wall: performance.now(), busy: busyMs() };
  const block = Math.min(now.wall - last.wall, now.busy - last.busy) - everyMs;
  last = now;
  if (longest === -1) longest = existsSync(BLOCK_FILE) ? 0 : -1;
  else if (block > longest) {
    longest = block;
    writeFileSync(BLOCK_FILE, String(longest));
  }
}, everyMs).unref();
