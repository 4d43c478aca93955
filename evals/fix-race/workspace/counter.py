class Counter:
    def __init__(self):
        self.value = 0

    def add(self, amount=1):
        before = self.value
        self._pause()
        self.value = before + amount

    def _pause(self):
        pass


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if self.balance < amount:
            return False
        self._pause()
        self.balance -= amount
        return True

    def _pause(self):
        pass
