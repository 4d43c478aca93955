// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { ResumeButton } from './resume-button.tsx';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it('CL1343: what resumes the agent is not there while a press may still be meant for what stopped it', () => {
  vi.useFakeTimers();
  const onResume = vi.fn<() => void>();
  render(<ResumeButton words="Resume" onResume={onResume} />);
  act(() => void vi.advanceTimersByTime(599));
  expect(screen.queryByRole('button', { name: 'Resume' })).toBeNull();
  act(() => void vi.advanceTimersByTime(1));
  fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
  expect(onResume).toHaveBeenCalledOnce();
});
