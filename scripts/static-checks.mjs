#!/usr/bin/env node
// The static checks alone, as `check` and `test` run them while their tests run.
import { CHECKS, runSteps } from './steps.mjs';
import { setupInPart } from './setup.mjs';

process.exitCode = (await runSteps(CHECKS, setupInPart('check'))) ? 0 : 1;
