import type { Command } from '../command.ts';
import { addLogin } from './login.ts';
import { addLogout } from './logout.ts';
import { addStatus } from './status.ts';

export function addAuth(auth: Command): void {
  addLogin(auth);
  addLogout(auth);
  addStatus(auth);
}
