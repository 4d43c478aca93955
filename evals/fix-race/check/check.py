import sys
import threading
import time

sys.path.insert(0, ".")
from counter import Account, Counter

# Others run at the worst moment.
Counter._pause = Account._pause = lambda self: time.sleep(0.001)


def at_once(work, times):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "it hangs"


counter = Counter()
at_once(lambda: [counter.add(2) for _ in range(5)], 8)
assert counter.value == 80, counter.value
account = Account(10)
taken = []
at_once(lambda: taken.append(account.withdraw(3)), 8)
assert taken.count(True) == 3 and account.balance == 1, (taken, account.balance)
assert Account(5).withdraw(6) is False
