#!/usr/bin/env node
// The static checks alone, as `check` and `test` run them while their tests run.
import { CHECKS, runSteps } from './steps.mjs';
import { setup } from './setup.mjs';

process.exitCode = runSteps(CHECKS, setup('start')) ? 0 : 1;
